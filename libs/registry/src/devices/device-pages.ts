/** Lists of devices in three orders. Each order has an index and a key for the next page. */
import { z } from 'zod';
import type { CursorKey } from '../database/cursor.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import type { Page, PageRequest } from '../page.js';
import { lastContact, listedDeviceCondition } from './device-condition.js';
import { DEVICE_COLUMNS, toDeviceRow, type DeviceRecord, type DeviceRow } from './device-rows.js';
import { sourceOf, type OrderColumns } from './page-source.js';
import { readFilterValues } from './filter-values.js';

/** Devices without the value come last. */
export type DeviceOrder = 'ID_ASC' | 'NAME_ASC' | 'LAST_SEEN_DESC';

interface Order {
  readonly key: z.ZodType<CursorKey>;
  /** `by` names the columns of id and name in an index of this order. */
  readonly orderBy: (by: OrderColumns) => string;
  /** The condition for rows after the key. */
  readonly after: (key: CursorKey, parameters: unknown[], by: OrderColumns) => string;
  readonly keyOf: (record: DeviceRecord) => CursorKey;
}

/** As `toISOString` writes it. PostgreSQL has no year 0. */
const storedTime = z.iso.datetime({ precision: 3 }).refine((text) => !text.startsWith('0000'));

const ORDERS: Readonly<Record<DeviceOrder, Order>> = {
  ID_ASC: {
    key: z.tuple([z.string()]),
    orderBy: ({ id }) => id,
    after: ([after], parameters, by) => {
      const key = bind(parameters, after);
      // If two tables are merged by id, both start after the key.
      return [...new Set([by.id, 'd.id'])].map((id) => `${id} > ${key}`).join(' AND ');
    },
    keyOf: ({ id }) => [id],
  },
  NAME_ASC: {
    key: z.tuple([z.union([z.literal(0), z.literal(1)]), z.string(), z.string()]),
    orderBy: ({ name, id }) => `${name}, ${id}`,
    after: ([isNameless, name, id], parameters, by) => {
      const [nameless, text, last] = [isNameless === 1, name, id].map((value) => bind(parameters, value));
      return `(${by.name}, ${by.id}) > (${nameless}, natural_key(${text}), ${last})`;
    },
    keyOf: ({ id, name }) => [name === null ? 1 : 0, name ?? '', id],
  },
  LAST_SEEN_DESC: {
    key: z.tuple([z.union([z.literal(0), z.literal(1)]), z.union([z.literal('-infinity'), storedTime]), z.string()]),
    orderBy: () => `${lastContact()} DESC, d.id`,
    after: ([isOnline, seen, id], parameters) => {
      const [seenAt, online] = [bind(parameters, seen), bind(parameters, isOnline === 1)];
      const at = lastContact(`${seenAt}::timestamptz`, `${online}::boolean`);
      return `(${lastContact()} <= ${at} AND (${lastContact()} < ${at} OR d.id > ${bind(parameters, id)}))`;
    },
    keyOf: ({ id, is_marked_online: isOnline, last_seen_at: seen }) => [
      isOnline ? 1 : 0,
      seen?.toISOString() ?? '-infinity',
      id,
    ],
  },
};

export async function pageOfDevices(
  database: Database,
  filter: DeviceFilter | undefined,
  orderName: DeviceOrder,
  request: PageRequest,
): Promise<Page<DeviceRow>> {
  const order = ORDERS[orderName];
  const list = `devices ${orderName}`;
  const key = decodeCursor(list, request, order.key);
  const parameters: unknown[] = [];
  const resolved = filter && (await resolveFilter(database, filter));
  const values = resolved && (await readFilterValues(database, resolved));
  const { from, by, each, rest } = sourceOf(orderName, resolved, values, parameters);
  const conditions = [
    listedDeviceCondition(rest, parameters, values),
    ...(key === undefined ? [] : [order.after(key, parameters, by)]),
  ];
  const inOrder = `ORDER BY ${order.orderBy(by)} LIMIT ${bind(parameters, request.first + 1)}`;
  const wanted = `${from} WHERE ${conditions.join(' AND ')} ${inOrder}`;
  const records = await database.query<DeviceRecord>(
    {
      // Only the six statements without a filter are prepared; filters vary without limit.
      ...(filter === undefined ? { name: `${list}${key === undefined ? '' : ' after'}` } : {}),
      text:
        each === undefined
          ? `SELECT ${DEVICE_COLUMNS} FROM ${wanted}`
          : `SELECT ${DEVICE_COLUMNS} FROM ${each} CROSS JOIN LATERAL (SELECT d.* FROM ${wanted}) d ${inOrder}`,
    },
    parameters,
  );
  return toPage(records, request, list, order.keyOf, toDeviceRow);
}
