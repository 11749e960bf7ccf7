/** The routes of OAuth over a real PostgreSQL, with documents of clients that the spec writes. */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentGrants, defaultGrantLimits, type ClientDocument } from '@flotilla/fleet';
import { openRegistry, type Registry, type UserRow } from '@flotilla/registry';
import { openTestDatabase, type TestDatabase } from '@flotilla/registry/test-database';
import { silentLogger } from '../mount/api-stubs.suite.js';
import { serveOauth } from './oauth-routes.js';
import { oauthAddresses } from './oauth-settings.js';

const issuer = 'http://127.0.0.1:1';
const addresses = oauthAddresses(issuer);
const limits = { ...defaultGrantLimits, registrationsMax: 2 };
const clientId = 'https://agent.example/client.json';
const redirect = 'https://agent.example/callback';

let database: TestDatabase;
let registry: Registry;
let user: UserRow;
let url: string;
let fetched: string[];
const documents = new Map<string, unknown>();
const failures: unknown[] = [];
const server = Fastify();

beforeAll(async () => {
  if (addresses === undefined) throw new TypeError('no addresses');
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  const ann = { name: 'Ann', email: 'ann@example.com', role: 'OPERATOR' } as const;
  const made = await registry.users.create(ann, { at: Date.now(), by: { actor: 'the spec' }, usersMax: 5 });
  if ('refused' in made) throw new TypeError(made.refused);
  ({ user } = made);
  fetched = [];
  const clock = { now: Date.now, setTimer: () => () => undefined };
  serveOauth(server, {
    addresses,
    registry,
    logger: silentLogger(failures),
    now: Date.now,
    grants: new AgentGrants({ registry, clock, limits, bus: { feed: { publish: () => undefined } as never } }),
    callers: {
      ofRequest: async () => ({
        viewer: { kind: 'USER', id: user.id, name: 'ann@example.com', scopes: [] },
        session: { id: 'session', user, scopes: [] },
      }),
    },
    fetchDocument: async (address) => documentAt(address),
    clientOf: ({ headers }) => ({ address: String(headers['x-address'] ?? '192.0.2.1'), isSecure: false }),
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await server.close();
  await registry.close();
  await database.close();
  expect(failures).toEqual([]);
});

function documentAt(address: string): ClientDocument {
  fetched.push(address);
  const document = documents.get(address);
  if (document === undefined) throw new Error('not a public address');
  const body = Uint8Array.from(Buffer.from(JSON.stringify(document)));
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

async function authorize(
  id: string,
  redirectUri = redirect,
  { prompt, ...others }: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const parameters = {
    ...(prompt === undefined ? {} : { prompt }),
    client_id: id,
    response_type: 'code',
    redirect_uri: redirectUri,
    code_challenge_method: 'S256',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  };
  const headers = { accept: 'text/html', ...others };
  return fetch(`${url}/oauth/authorize?${new URLSearchParams(parameters)}`, { redirect: 'manual', headers });
}

const cookiesOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');

describe('a client with a metadata document', () => {
  it('is shown with its address and host, and its document is fetched once', async () => {
    documents.set(clientId, { client_id: clientId, client_name: 'Agent', redirect_uris: [redirect] });
    for (let round = 0; round < 2; round++) {
      const opened = await authorize(clientId);
      const page = opened.headers.get('location') ?? '';
      expect(page).toMatch(/^\/oauth\/consent\/[\w-]{20,}$/);
      const shown = await fetch(`${url}${page}/request`, { headers: { cookie: cookiesOf(opened) } });
      expect(await shown.json()).toMatchObject({
        client: { name: 'Agent', host: 'agent.example', isLocal: false, document: clientId },
        person: 'ann@example.com',
      });
    }
    expect(fetched.filter((address) => address === clientId)).toHaveLength(1);
  });

  it.each([
    ['another id', { client_id: 'https://other.example/client.json', redirect_uris: [redirect] }],
    ['an address without TLS', { redirect_uris: ['http://agent.example/callback'] }],
    ['a secret', { redirect_uris: [redirect], client_secret: 'x' }],
    ['no addresses', {}],
    ['too many bytes', { redirect_uris: [redirect], client_name: 'x'.repeat(6_000) }],
  ])('is refused for %s', async (name, document) => {
    const id = `https://agent.example/${encodeURIComponent(name)}.json`;
    documents.set(id, { client_id: id, ...document });
    const [redirectUri] = 'redirect_uris' in document ? document.redirect_uris : [];
    const answer = await authorize(id, redirectUri ?? redirect);
    expect(answer.headers.get('location')).toMatch(/^\/oauth\/consent\/failed\?error=invalid_/);
  });

  it('is refused where the document cannot be fetched', async () => {
    const answer = await authorize('https://10.0.0.1/client.json');
    expect(answer.headers.get('location')).toMatch(/^\/oauth\/consent\/failed\?error=invalid_client/);
  });
});

const allow = async (opened: Response) => {
  const decided = await fetch(`${url}${opened.headers.get('location') ?? ''}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: cookiesOf(opened) },
    body: JSON.stringify({ decision: 'allow', scopes: ['DEVICES_READ'] }),
  });
  return String(((await decided.json()) as { redirectTo: string }).redirectTo);
};

describe('a decision', () => {
  it.each(['login', 'select_account', 'consent', 'login consent select_account'])(
    'counts where the client asks for "%s"',
    async (prompt) => {
      documents.set(clientId, { client_id: clientId, client_name: 'Agent', redirect_uris: [redirect] });
      const opened = await authorize(clientId, redirect, { prompt });
      const { pathname } = new URL(await allow(opened));
      const back = await fetch(`${url}${pathname}`, { redirect: 'manual', headers: { cookie: cookiesOf(opened) } });
      expect(back.headers.get('location')).toMatch(/^https:\/\/agent\.example\/callback\?code=/);
    },
  );

  // A proxy may send the host of the hub behind it, as the requests of this spec do.
  it.each([{}, { 'x-forwarded-host': 'other.example' }])(
    'leads back to the public address of the hub for a request with the headers %j',
    async (headers: Readonly<Record<string, string>>) => {
      documents.set(clientId, { client_id: clientId, client_name: 'Agent', redirect_uris: [redirect] });
      const opened = await authorize(clientId, redirect, headers);
      expect(new URL(await allow(opened)).origin).toBe(issuer);
    },
  );
});

describe('a token that the client gives back', () => {
  const send = (path: string, form: Readonly<Record<string, string>>) =>
    fetch(`${url}/oauth/${path}`, { method: 'POST', body: new URLSearchParams({ client_id: clientId, ...form }) });
  const tokens = async () => {
    documents.set(clientId, { client_id: clientId, client_name: 'Agent', redirect_uris: [redirect] });
    const opened = await authorize(clientId);
    const { pathname } = new URL(await allow(opened));
    const back = await fetch(`${url}${pathname}`, { redirect: 'manual', headers: { cookie: cookiesOf(opened) } });
    const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const answer = await send('token', {
      grant_type: 'authorization_code',
      redirect_uri: redirect,
      code,
      code_verifier,
    });
    return (await answer.json()) as { readonly access_token: string; readonly refresh_token: string };
  };

  it.each(['access_token', 'refresh_token'] as const)('ends the grant: the %s', async (name) => {
    const given = await tokens();
    const living = async () => (await registry.agentGrants.living(Date.now())).length;
    const before = await living();
    expect((await send('revoke', { token: given[name] })).status).toBe(200);
    expect(await living()).toBe(before - 1);
  });
});

describe('a client id that PostgreSQL cannot store', () => {
  it('is one that the hub does not know', async () => {
    const answer = await authorize('\0');
    expect(answer.headers.get('location')).toMatch(/^\/oauth\/consent\/failed\?error=invalid_client/);
    const form = { client_id: '\0', grant_type: 'refresh_token', refresh_token: 'x' };
    const exchanged = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    expect([exchanged.status, await exchanged.json()]).toMatchObject([401, { error: 'invalid_client' }]);
  });
});

describe('registrations', () => {
  const register = (address: string) =>
    fetch(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-address': address },
      body: JSON.stringify({ redirect_uris: [redirect] }),
    });

  it('of one network are limited, and others go on', async () => {
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await register('198.51.100.7')).status);
    expect(statuses).toEqual([201, 201, 429]);
    const refused = await register('198.51.100.7');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect((await register('198.51.100.8')).status).toBe(201);
  });
});
