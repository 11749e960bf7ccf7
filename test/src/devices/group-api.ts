/** Device groups as an integrator reads and changes them. */
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

export interface GroupNode {
  readonly id: string;
  readonly name: string;
  readonly timeZone: string | null;
  readonly filter: unknown;
}

export async function groupsOf(hub: HubProcess): Promise<readonly GroupNode[]> {
  const query = '{ deviceGroups { nodes { id name timeZone filter } } }';
  return (await ask<{ deviceGroups: { nodes: readonly GroupNode[] } }>(hub, query)).deviceGroups.nodes;
}

export async function updateGroup(hub: HubProcess, id: string | undefined, input: object): Promise<void> {
  const mutation = `mutation ($id: ID!, $input: DeviceGroupInput!) {
    updateDeviceGroup(id: $id, input: $input) { userErrors { message } } }`;
  await ask(hub, mutation, { id, input });
}
