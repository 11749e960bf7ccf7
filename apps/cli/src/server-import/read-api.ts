/**
 * Reads the boards of one account over the REST API of xiaozhi-esp32-server, with the token of a
 * person who signed in there. That server reports errors with status 200 and a `code`.
 */
import { UsageError } from '../exit-codes.js';
import type { Dump } from './read-dump.js';

interface ApiSource {
  /** Such as `http://old.example:8002/xiaozhi`. */
  readonly from: string;
  readonly token: string;
}

type Fields = Readonly<Record<string, unknown>>;

const timeoutMs = 10_000;
const notSignedIn = 401;

/** Agents and their boards; the API names no users to an ordinary account. */
export async function readApi({ from, token }: ApiSource): Promise<Dump> {
  const base = from.replace(/\/+$/, '');
  const agents = await listAt(`${base}/agent/list`, token);
  const devices: Dump['ai_device'][number][] = [];
  for (const agent of agents)
    for (const device of await listAt(`${base}/device/bind/${encodeURIComponent(text(agent, 'id') ?? '')}`, token))
      devices.push({
        id: text(device, 'id'),
        mac_address: text(device, 'macAddress'),
        agent_id: text(agent, 'id'),
        user_id: null,
        alias: text(device, 'alias'),
        board: text(device, 'board'),
        app_version: text(device, 'appVersion'),
        last_connected_at: text(device, 'lastConnectedAt'),
      });
  return {
    ai_device: devices,
    ai_agent: agents.map((agent) => ({ id: text(agent, 'id'), user_id: null, agent_name: text(agent, 'agentName') })),
    sys_user: [],
  };
}

async function listAt(url: string, token: string): Promise<readonly Fields[]> {
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => undefined);
  if (answer === undefined) throw new UsageError(`${url} does not answer. Check --from.`);
  const body: unknown = await answer.json().catch(() => undefined);
  const { code, data } = isFields(body) ? body : {};
  if (answer.status === notSignedIn || code === notSignedIn)
    throw new UsageError('The token is not valid there. Sign in to that console again and copy its token.');
  if (code !== 0 || !Array.isArray(data))
    throw new UsageError(`${url} answered ${answer.status} without a list. Check that --from ends with /xiaozhi.`);
  return data.filter(isFields);
}

function text(fields: Fields, name: string): string | null {
  const value = fields[name];
  return typeof value === 'string' ? value : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
