/** What an integrator sees of one device, and calling its tools. */
import { eventually } from '../eventually.js';
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

interface DeviceSessionNode {
  readonly epoch: number;
  readonly transport: string;
  readonly disconnectedAt: string | null;
  readonly closeReason: string | null;
}

export interface DeviceView {
  readonly presence: string;
  readonly model: string | null;
  readonly firmwareVersion: string | null;
  readonly toolsStale: boolean;
  readonly tools: readonly { readonly name: string; readonly schemaKnown: boolean; readonly userOnly: boolean }[];
  /** Newest first. */
  readonly sessions: readonly DeviceSessionNode[];
}

export interface CallNode {
  readonly outcome: string;
  readonly result: { readonly text: string } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The device, or null while the hub has never seen it. */
export async function viewDevice(hub: HubProcess, id: string): Promise<DeviceView | null> {
  const query = `query ($id: ID!) { device(id: $id) { presence model firmwareVersion toolsStale
    tools { name schemaKnown userOnly }
    sessions(first: 100) { epoch transport disconnectedAt closeReason } } }`;
  return (await ask<{ device: DeviceView | null }>(hub, query, { id })).device;
}

/** Waits until the device is there and as it should be. */
export async function deviceThat(
  hub: HubProcess,
  id: string,
  holds: (device: DeviceView) => boolean,
  withinMs?: number,
) {
  const found = await eventually(
    () => viewDevice(hub, id),
    (device) => device !== null && holds(device),
    withinMs,
  );
  return found as DeviceView;
}

export function isOnline({ presence }: DeviceView): boolean {
  return presence === 'ONLINE';
}

/** Data of the device's events of one type, oldest first. */
export async function eventsOf(
  hub: HubProcess,
  deviceId: string,
  type: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const query = `query ($filter: EventFilter) { events(filter: $filter, first: 200) { nodes { data } } }`;
  const { events } = await ask<{ events: { nodes: { data: Record<string, unknown> }[] } }>(hub, query, {
    filter: { deviceId, types: [type] },
  });
  return events.nodes.map(({ data }) => data);
}

/** Calls a tool; a refusal before the record throws. */
export async function callTool(hub: HubProcess, input: Readonly<Record<string, unknown>>): Promise<CallNode> {
  const query = `mutation ($input: CallToolInput!) { callTool(input: $input) {
    call { outcome result { text } error { code message } } userErrors { code message } } }`;
  const { callTool: answer } = await ask<{ callTool: { call: CallNode | null; userErrors: readonly unknown[] } }>(
    hub,
    query,
    { input },
  );
  if (answer.call === null) throw new Error(`callTool refused: ${JSON.stringify(answer.userErrors)}`);
  return answer.call;
}
