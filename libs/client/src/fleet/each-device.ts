/** Devices of a filter, one after the other, page by page. */
import { DevicesDocument, type DeviceSummaryFragment } from '../generated/operations.js';
import type { DeviceFilter, DeviceOrder } from '../generated/schema-types.js';
import type { OperationSender } from '../operation.js';

export interface DeviceListOptions {
  readonly filter?: DeviceFilter;
  readonly orderBy?: DeviceOrder;
  /** 1 to 200. */
  readonly pageSize?: number;
  readonly signal?: AbortSignal;
}

export async function* eachDevice(
  client: Pick<OperationSender, 'request'>,
  { filter, orderBy, pageSize = 200, signal }: DeviceListOptions,
): AsyncGenerator<DeviceSummaryFragment, void, void> {
  let after: string | null | undefined;
  do {
    const variables = { filter, first: pageSize, after, ...(orderBy === undefined ? {} : { orderBy }) };
    const { devices } = await client.request(DevicesDocument, variables, signal ? { signal } : {});
    yield* devices.nodes;
    after = devices.pageInfo.hasNextPage ? devices.pageInfo.endCursor : undefined;
  } while (after !== undefined && after !== null);
}
