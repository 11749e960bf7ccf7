/**
 * Completes the `{id}` of a resource template: the ids of devices whose id or name contains the
 * text.
 */
import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import { callerMay, type AgentCaller } from '../session/agent-caller.js';
import { resourceTemplates } from './device-resources.js';

/** Ids of one answer, as MCP bounds it. */
const idsMax = 100;
/** UTF-16 code units that are looked for: ids and names have fewer. */
const typedMax = 200;

export async function completeDeviceId(
  caller: AgentCaller,
  { ref, argument }: CompleteRequest['params'],
): Promise<CompleteResult> {
  const isOurs =
    ref.type === 'ref/resource' &&
    argument.name === 'id' &&
    resourceTemplates.some(({ uriTemplate }) => uriTemplate === ref.uri);
  if (!isOurs || !callerMay(caller, 'DEVICES_READ') || argument.value.length > typedMax)
    return { completion: { values: [] } };
  const page = await caller.view.devices.page(
    argument.value === '' ? undefined : { search: argument.value },
    'ID_ASC',
    { first: idsMax },
  );
  return { completion: { values: page.rows.map(({ id }) => id), hasMore: page.hasNextPage } };
}
