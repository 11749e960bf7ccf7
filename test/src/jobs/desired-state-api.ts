/** Desired states as an integrator drives them. */
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

export interface DesiredStateNode {
  readonly id: string;
  readonly generation: number;
  readonly summary: Readonly<Record<'targeted' | 'inSync' | 'waitingDevice' | 'held' | 'applying', number>> & {
    readonly t95Seconds: number | null;
    readonly t99Seconds: number | null;
  };
}

interface Payload {
  readonly desiredState: DesiredStateNode | null;
  readonly userErrors: readonly { readonly code: string; readonly message: string }[];
}

const FIELDS = 'id generation summary { targeted inSync waitingDevice held applying t95Seconds t99Seconds }';
const ERRORS = 'userErrors { code message }';

export async function createDesiredState(
  hub: HubProcess,
  input: Readonly<Record<string, unknown>>,
  key: string,
): Promise<DesiredStateNode> {
  const query = `mutation ($input: DesiredStateInput!, $key: String!) {
    answer: createDesiredState(input: $input, idempotencyKey: $key) { desiredState { ${FIELDS} } ${ERRORS} } }`;
  return taken(await ask<{ answer: Payload }>(hub, query, { input, key }));
}

export async function editDesiredState(
  hub: HubProcess,
  { id, generation }: DesiredStateNode,
  input: Readonly<Record<string, unknown>>,
): Promise<DesiredStateNode> {
  const query = `mutation ($id: ID!, $generation: Int!, $input: DesiredStateInput!) {
    answer: updateDesiredState(id: $id, expectedGeneration: $generation, input: $input) {
      desiredState { ${FIELDS} } ${ERRORS} } }`;
  return taken(await ask<{ answer: Payload }>(hub, query, { id, generation, input }));
}

export async function disableDesiredState(hub: HubProcess, id: string): Promise<DesiredStateNode> {
  const query = `mutation ($id: ID!) {
    answer: setDesiredStateEnabled(id: $id, enabled: false) { desiredState { ${FIELDS} } ${ERRORS} } }`;
  return taken(await ask<{ answer: Payload }>(hub, query, { id }));
}

export async function readDesiredState(hub: HubProcess, id: string): Promise<DesiredStateNode> {
  const query = `query ($id: ID!) { desiredState(id: $id) { ${FIELDS} } }`;
  const { desiredState } = await ask<{ desiredState: DesiredStateNode | null }>(hub, query, { id });
  if (desiredState === null) throw new Error(`There is no desired state ${id}.`);
  return desiredState;
}

function taken({ answer }: { readonly answer: Payload }): DesiredStateNode {
  if (answer.desiredState === null) throw new Error(answer.userErrors.map(({ message }) => message).join(' '));
  return answer.desiredState;
}
