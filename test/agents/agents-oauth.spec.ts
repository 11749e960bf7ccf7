/**
 * Agents that people connect over OAuth: the whole flow with the client of the MCP SDK, what the
 * agent may do then, and how it ends.
 */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentMemory, connectAgain, connectByAddress, decide, startPublicHub } from '../src/agents/oauth-agent.js';
import { askMcp, authorizeUrl, tokenRequest } from '../src/agents/oauth-requests.js';
import { Browser } from '../src/api/browser.js';
import { ask } from '../src/api/graphql-client.js';
import { createUserMutation, password, type UserPayload } from '../src/api/people.js';
import { McpuBoard } from '../src/devices/mcpu-board.js';
import { AgentBoards } from '../src/agents/agent-boards.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, type HubProcess } from '../src/hub/hub-process.js';

let hub: HubProcess;
let boards: AgentBoards;
let person: Browser;
let personId: string;

const email = 'ann@example.com';

beforeAll(async () => {
  hub = await startPublicHub();
  boards = new AgentBoards(hub);
  await boards.add('greenhouse-1', await McpuBoard.boot());
  await boards.add('kitchen-1', await McpuBoard.boot());
  const input = { name: 'Ann', email, role: 'OPERATOR', password };
  const { createUser } = await ask<{ createUser: UserPayload }>(hub, createUserMutation, { input });
  personId = createUser.user?.id ?? '';
  person = new Browser(hub);
  expect((await person.signIn(email, password)).status).toBe(200);
});

afterAll(async () => {
  boards.stop();
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|failed inside|request failed/i);
  removeDataDir(hub.dataDir);
});

const toolNames = async (agent: { listTools(): Promise<{ tools: readonly { name: string }[] }> }) =>
  (await agent.listTools()).tools.map(({ name }) => name).sort();

const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });
const updateUser =
  'mutation ($id: ID!, $input: UserInput!) { updateUser(id: $id, input: $input) { userErrors { code } } }';
const setRole = (role: string, disabled = false) =>
  ask(hub, updateUser, { id: personId, input: { name: 'Ann', email, role, disabled } });

async function grants(browser = person) {
  const query = '{ agentGrants { id clientName clientHost userEmail scopes devices lastUsedAt } }';
  const { data } = await browser.graphql<{
    agentGrants: { id: string; clientName: string; scopes: string[]; lastUsedAt: string | null }[];
  }>(query);
  return data?.agentGrants ?? [];
}

describe('a hosted agent', () => {
  it('connects by the address alone, and acts in the name of the person', async () => {
    const memory = new AgentMemory('Garden helper');
    const { agent, shown } = await connectByAddress(hub, memory, person);
    expect(shown.client).toMatchObject({ name: 'Garden helper', host: 'localhost', isLocal: true });
    expect(shown.scopes.map(({ name }) => name)).toEqual([
      'DEVICES_READ',
      'TOOLS_CALL',
      'JOBS_READ',
      'JOBS_WRITE',
      'EVENTS_READ',
    ]);
    expect(await toolNames(agent)).toContain('kitchen-1__gpio_read');
    const result = await agent.callTool({ name: 'greenhouse-1__gpio_read', arguments: { pin: 16 } });
    expect(result).not.toMatchObject({ isError: true });
    const { calls } = await ask<{ calls: { nodes: { actor: string }[] } }>(
      hub,
      '{ calls(first: 1) { nodes { actor } } }',
    );
    expect(calls.nodes[0]?.actor).toBe(`${email} via Garden helper`);
    expect(await grants()).toMatchObject([{ clientName: 'Garden helper', userEmail: email, devices: null }]);
    expect((await grants())[0]?.lastUsedAt).not.toBeNull();
    const query = '{ auditEntries(first: 5, filter: { action: "grant.created" }) { nodes { actor data } } }';
    const { auditEntries } = await ask<{ auditEntries: { nodes: { actor: string; data: unknown }[] } }>(hub, query);
    expect(auditEntries.nodes[0]).toMatchObject({ actor: email, data: { client: 'Garden helper' } });
    await agent.close();
  });

  it('sees only the group and the scopes that the person chose', async () => {
    const create = 'mutation ($input: DeviceGroupInput!) { createDeviceGroup(input: $input) { deviceGroup { id } } }';
    const input = { name: 'Greenhouse', filter: { search: 'greenhouse' } };
    const { createDeviceGroup } = await ask<{ createDeviceGroup: { deviceGroup: { id: string } } }>(hub, create, {
      input,
    });
    const memory = new AgentMemory('Narrow helper');
    const scopes = ['DEVICES_READ', 'TOOLS_CALL'];
    const { agent } = await connectByAddress(hub, memory, person, {
      decision: 'allow',
      scopes,
      groupId: createDeviceGroup.deviceGroup.id,
    });
    expect(await toolNames(agent)).toEqual([
      'greenhouse-1__gpio_read',
      'greenhouse-1__gpio_write',
      'read_measurements',
    ]);
    expect(memory.held?.scope?.split(' ').sort()).toEqual(scopes);
    const refused = await askMcp(hub, memory.held?.access_token, call('job_status'));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toMatch(
      /^Bearer error="insufficient_scope", .*resource_metadata="[^"]+", scope="DEVICES_READ TOOLS_CALL JOBS_READ"$/,
    );
    const alerts = await askMcp(hub, memory.held?.access_token, call('list_alerts'));
    expect(alerts.headers.get('www-authenticate')).toMatch(/ scope="DEVICES_READ TOOLS_CALL EVENTS_READ"$/);
    await agent.close();
  });

  it('gets nothing where the person denies it', async () => {
    const memory = new AgentMemory('Unwanted');
    await expect(connectByAddress(hub, memory, person, { decision: 'deny' })).rejects.toThrow();
    expect(memory.held).toBeUndefined();
    expect((await grants()).map(({ clientName }) => clientName)).not.toContain('Unwanted');
  });

  it('loses what it has at once when the person gets fewer rights, and refreshes to the rest', async () => {
    const memory = new AgentMemory('Follower');
    const { agent } = await connectByAddress(hub, memory, person);
    await agent.close();
    const before = memory.held?.access_token;
    expect((await askMcp(hub, before)).status).toBe(200);
    await setRole('VIEWER');
    const narrowed = await askMcp(hub, before);
    expect(narrowed.status).toBe(401);
    expect(narrowed.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const again = await connectAgain(hub, memory);
    expect(memory.held?.scope).toBe('DEVICES_READ JOBS_READ EVENTS_READ');
    await again.close();
    await setRole('OPERATOR', true);
    expect((await askMcp(hub, memory.held?.access_token)).status).toBe(401);
    await setRole('OPERATOR');
    expect((await person.signIn(email, password)).status).toBe(200);
  });

  it('asks for other scopes where the person keeps none of its scopes, and goes on when they are back', async () => {
    const memory = new AgentMemory('Caller');
    const { agent } = await connectByAddress(hub, memory, person, { decision: 'allow', scopes: ['TOOLS_CALL'] });
    await agent.close();
    await setRole('VIEWER');
    const refresh = { grant_type: 'refresh_token', refresh_token: memory.held?.refresh_token ?? '' };
    const renewed = await tokenRequest(hub, memory, refresh);
    expect(renewed.status).toBe(200);
    const { access_token: token } = (await renewed.json()) as { access_token: string };
    for (const each of [memory.held?.access_token, token]) {
      const refused = await askMcp(hub, each);
      expect(refused.status).toBe(403);
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer error="insufficient_scope", .*scope="/);
    }
    await setRole('OPERATOR');
    expect((await askMcp(hub, memory.held?.access_token)).status).toBe(200);
    const narrowed = await askMcp(hub, token);
    expect(narrowed.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  it('loses its streams at once when the person disconnects it', async () => {
    const memory = new AgentMemory('Listener');
    const { agent } = await connectByAddress(hub, memory, person);
    await agent.close();
    const token = memory.held?.access_token ?? '';
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const [stream] = (await once(get(`${hub.httpUrl}/mcp`, { headers }), 'response')) as [IncomingMessage];
    expect(stream.statusCode).toBe(200);
    const ended = new Promise((resolve) => stream.once('error', resolve).once('close', resolve));
    stream.resume();
    const { id } = (await grants()).find(({ clientName }) => clientName === 'Listener') ?? { id: '' };
    const revoke = 'mutation ($id: ID!) { revokeAgentGrant(id: $id) { revokedId userErrors { code } } }';
    expect(await person.graphql(revoke, { id })).toMatchObject({ data: { revokeAgentGrant: { revokedId: id } } });
    await ended;
    expect((await askMcp(hub, token)).status).toBe(401);
    const refresh = { grant_type: 'refresh_token', refresh_token: memory.held?.refresh_token ?? '' };
    expect((await tokenRequest(hub, memory, refresh)).status).toBe(400);
  });

  it('that uses a refresh token twice loses all of them', async () => {
    const memory = new AgentMemory('Copied');
    const { agent } = await connectByAddress(hub, memory, person);
    await agent.close();
    const refresh = { grant_type: 'refresh_token', refresh_token: memory.held?.refresh_token ?? '' };
    const first = await tokenRequest(hub, memory, refresh);
    expect(first.status).toBe(200);
    const { access_token: token } = (await first.json()) as { access_token: string };
    expect((await askMcp(hub, token)).status).toBe(200);
    expect(await (await tokenRequest(hub, memory, refresh)).json()).toMatchObject({ error: 'invalid_grant' });
    expect((await askMcp(hub, token)).status).toBe(401);
    expect((await grants()).map(({ clientName }) => clientName)).not.toContain('Copied');
  });

  it('can give its tokens back', async () => {
    const memory = new AgentMemory('Polite');
    const { agent } = await connectByAddress(hub, memory, person);
    await agent.close();
    const body = new URLSearchParams({
      token: memory.held?.refresh_token ?? '',
      client_id: memory.client?.client_id ?? '',
    });
    expect((await fetch(`${hub.httpUrl}/oauth/revoke`, { method: 'POST', body })).status).toBe(200);
    expect((await askMcp(hub, memory.held?.access_token)).status).toBe(401);
    await eventually(grants, (left) => left.every(({ clientName }) => clientName !== 'Polite'));
  });

  it('cannot use its token outside of /mcp', async () => {
    const memory = new AgentMemory('Wanderer');
    const { agent } = await connectByAddress(hub, memory, person);
    await agent.close();
    const headers = { authorization: `Bearer ${memory.held?.access_token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query: '{ viewer { name } }' });
    expect((await fetch(`${hub.httpUrl}/graphql`, { method: 'POST', headers, body })).status).toBe(401);
    expect((await fetch(`${hub.httpUrl}/api/audit.jsonl`, { headers })).status).not.toBe(200);
  });
});

describe('a request of an agent', () => {
  it.each([
    ['a redirect URI that is not registered', { redirect_uri: 'https://evil.example/callback' }],
    ['an unknown client', { client_id: 'unknown' }],
    ['a metadata document inside the network', { client_id: 'https://127.0.0.1:1/client.json' }],
  ])('is refused on a page of the hub for %s', async (_, change) => {
    const answer = await fetch(await authorizeUrl(hub, change), {
      redirect: 'manual',
      headers: { accept: 'text/html' },
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^\/oauth\/consent\/failed\?error=invalid_/);
  });

  it.each([
    ['no PKCE', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['no page', { prompt: 'none' }, 'consent_required'],
  ])('goes back to the client with an error for %s', async (_, change, error) => {
    const answer = await fetch(await authorizeUrl(hub, change), { redirect: 'manual' });
    const location = new URL(answer.headers.get('location') ?? '', hub.httpUrl);
    expect(location.host).toBe('127.0.0.1:4711');
    expect(Object.fromEntries(location.searchParams)).toMatchObject({ error, state: 's', iss: hub.httpUrl });
  });

  it('accepts another port of a loopback address', async () => {
    const asked = await authorizeUrl(hub, { redirect_uri: 'http://127.0.0.1:4999/callback' });
    const { callback } = await decide(person, asked, { decision: 'deny' });
    expect(callback.href).toContain('http://127.0.0.1:4999/callback?error=access_denied');
  });

  it('can be decided only in the browser that started it, by a person, from a page of the hub', async () => {
    const asked = await authorizeUrl(hub, {});
    const opened = await person.fetch(asked.href);
    const page = opened.headers.get('location') ?? '';
    const allow = { decision: 'allow', scopes: ['DEVICES_READ'] };
    expect((await person.onPageOf('https://evil.example').post(page, allow)).status).toBe(403);
    const stranger = new Browser(hub);
    expect((await stranger.post(page, allow)).status).toBe(401);
    expect((await stranger.signIn(email, password)).status).toBe(200);
    expect((await stranger.post(page, allow)).status).toBe(404);
    const headers = { authorization: `Bearer ${hub.adminKey}`, 'content-type': 'application/json' };
    const byKey = await fetch(new URL(page, hub.httpUrl), { method: 'POST', headers, body: JSON.stringify(allow) });
    expect(byKey.status).toBe(403);
    expect((await person.post(page, { ...allow, scopes: [] })).status).toBe(400);
    expect((await person.post(page, allow)).status).toBe(200);
  });

  it('is answered with the address of the metadata where a token is missing', async () => {
    const answer = await askMcp(hub);
    expect(answer.status).toBe(401);
    const challenge = answer.headers.get('www-authenticate') ?? '';
    expect(challenge).not.toContain('error=');
    const [, address = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    const document = (await (await fetch(address)).json()) as { resource: string; authorization_servers: string[] };
    expect(document).toMatchObject({ resource: `${hub.httpUrl}/mcp`, authorization_servers: [hub.httpUrl] });
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const server = (await (await fetch(`${hub.httpUrl}/.well-known/${name}`)).json()) as Record<string, unknown>;
      expect(server).toMatchObject({
        issuer: hub.httpUrl,
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
      });
      const keys = (await (await fetch(String(server['jwks_uri']))).json()) as { keys: object[] };
      expect(keys.keys).toHaveLength(1);
      expect(keys.keys[0]).not.toHaveProperty('d');
    }
    expect((await askMcp(hub, 'an unknown token')).headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect((await askMcp(hub, hub.adminKey)).status).toBe(200);
  });
});
