/** Requests of an operator that approves, rejects and removes devices. */
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

type Hub = Pick<HubProcess, 'httpUrl' | 'adminKey'>;

export interface EnrolmentNode {
  readonly id: string;
  readonly code: string | null;
  readonly replaces: boolean;
  readonly deviceId: string;
  readonly model: string | null;
}

interface UserErrorNode {
  readonly code: string;
}

export async function enrolmentsOf(hub: Hub): Promise<readonly EnrolmentNode[]> {
  const query = '{ enrolments(first: 200) { nodes { id code replaces deviceId model } } }';
  return (await ask<{ enrolments: { nodes: readonly EnrolmentNode[] } }>(hub, query)).enrolments.nodes;
}

/** Resolves to the codes of what was wrong. */
export async function approveEnrolment(hub: Hub, code: string, confirm = false): Promise<readonly string[]> {
  const query = `mutation ($code: String!, $confirm: Boolean) {
  approveEnrolment(code: $code, confirm: $confirm) { userErrors { code } }
}`;
  const { approveEnrolment: answer } = await ask<{ approveEnrolment: { userErrors: readonly UserErrorNode[] } }>(
    hub,
    query,
    {
      code,
      confirm,
    },
  );
  return answer.userErrors.map((error) => error.code);
}

/** An enrolment link for an hour; its OTA address. */
export async function createEnrolmentLink(
  hub: Hub,
  { maxDevices, tags = [] }: { maxDevices: number; tags?: readonly string[] },
): Promise<string> {
  const query =
    'mutation ($input: EnrolmentLinkInput!) { createEnrolmentLink(input: $input) { url userErrors { code message } } }';
  const input = { name: 'story', maxDevices, tags, expiresAt: new Date(Date.now() + 3_600_000).toISOString() };
  const { createEnrolmentLink: answer } = await ask<{
    createEnrolmentLink: { url: string | null; userErrors: readonly unknown[] };
  }>(hub, query, { input });
  if (answer.url === null) throw new Error(`createEnrolmentLink refused: ${JSON.stringify(answer.userErrors)}`);
  return answer.url;
}

/** Resolves to the codes of what was wrong. */
export async function changeDevice(
  hub: Hub,
  mutation: 'rotateDeviceCredential' | 'removeDevice',
  deviceId: string,
): Promise<readonly string[]> {
  const query = `mutation ($deviceId: ID!) { answer: ${mutation}(deviceId: $deviceId) { userErrors { code } } }`;
  const { answer } = await ask<{ answer: { userErrors: readonly UserErrorNode[] } }>(hub, query, { deviceId });
  return answer.userErrors.map(({ code }) => code);
}

export async function setTransport(hub: Hub, deviceId: string, transport: 'MQTT' | 'WEBSOCKET'): Promise<void> {
  const query = 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { code } } }';
  await ask(hub, query, { input: { deviceId, transport } });
}
