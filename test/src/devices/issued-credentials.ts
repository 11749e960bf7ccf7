/** Devices with individual credentials, as an operator registers them. */
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

/** What CONNECT has to say. */
export interface MqttLogin {
  readonly clientId: string;
  readonly username: string;
  readonly password: Buffer;
}

interface Answer {
  readonly credential: Readonly<Record<string, string>> | null;
  readonly userErrors: readonly { readonly message: string }[];
}

function credentialIn({ credential, userErrors }: Answer): Readonly<Record<string, string>> {
  if (!credential) throw new Error(`No credential: ${JSON.stringify(userErrors)}`);
  return credential;
}

function loginIn(answer: Answer): MqttLogin {
  const { client_id: clientId = '', username = '', password = '' } = credentialIn(answer);
  return { clientId, username, password: Buffer.from(password) };
}

/** By what a board comes in at the OTA address; none: by its code, a link or its factory key. */
export interface RegisteredProof {
  readonly clientId?: string;
  readonly admitWithoutCodeUntil?: string;
}

async function register(
  hub: HubProcess,
  deviceId: string,
  transport: 'MQTT' | 'WEBSOCKET',
  proof: RegisteredProof = {},
): Promise<Answer> {
  const query =
    'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { credential userErrors { message } } }';
  const input = { deviceId, dialect: 'XIAOZHI', transport, ...proof };
  return (await ask<{ registerDevice: Answer }>(hub, query, { input })).registerDevice;
}

export async function registerMqttDevice(
  hub: HubProcess,
  deviceId: string,
  proof?: RegisteredProof,
): Promise<MqttLogin> {
  return loginIn(await register(hub, deviceId, 'MQTT', proof));
}

/** Resolves to its token. */
export async function registerWebSocketDevice(
  hub: HubProcess,
  deviceId: string,
  proof?: RegisteredProof,
): Promise<string> {
  return credentialIn(await register(hub, deviceId, 'WEBSOCKET', proof))['token'] ?? '';
}

export async function rotateMqttCredential(hub: HubProcess, deviceId: string): Promise<MqttLogin> {
  const query = 'mutation ($id: ID!) { rotateDeviceCredential(deviceId: $id) { credential userErrors { message } } }';
  return loginIn((await ask<{ rotateDeviceCredential: Answer }>(hub, query, { id: deviceId })).rotateDeviceCredential);
}
