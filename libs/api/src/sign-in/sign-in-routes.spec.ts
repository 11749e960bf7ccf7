/** Sign-in by an identity provider over a real PostgreSQL; the spec answers for the provider. */
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localBus } from '@flotilla/bus';
import { noTicks } from '@flotilla/bus/no-ticks';
import { defaultSignInLimits, People, SignIns } from '@flotilla/fleet';
import { openRegistry, type Registry } from '@flotilla/registry';
import { openTestDatabase, type TestDatabase } from '@flotilla/registry/test-database';
import { KeyFailures } from '../access/key-failures.js';
import { silentLogger } from '../mount/api-stubs.suite.js';
import { Argon2Passwords } from './argon2-passwords.js';
import { Callers } from './callers.js';
import { serveSignIn } from './sign-in-routes.js';

const server = Fastify();
const logger = silentLogger([]);
const bus = localBus(noTicks, logger);
let database: TestDatabase;
let registry: Registry;
let signIns: SignIns;
let person = '';

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
  const clock = { now: Date.now, setTimer: () => () => undefined };
  const deps = { registry, bus, clock, logger, passwords: new Argon2Passwords(), limits: defaultSignInLimits };
  signIns = new SignIns(deps);
  const isSecure = () => false;
  const clientOf = () => ({ address: '192.0.2.1', isSecure: false });
  const failures = new KeyFailures({ failuresMax: 300, windowMs: 60_000 });
  const { apiKeys } = registry;
  serveSignIn(server, {
    callers: new Callers({ apiKeys, signIns, publicUrl: undefined, isSecure, clientOf, failures }),
    signIns,
    people: new People(deps),
    oidc: {
      label: 'Example ID',
      pendingSeconds: 600,
      begin: async () => ({
        url: 'https://id.example/',
        attempt: { state: 'state', nonce: 'nonce', verifier: 'verifier' },
      }),
      finish: async () => ({
        identity: { issuer: 'https://id.example', subject: person },
        name: person,
        verifiedEmail: `${person}@example.net`,
        role: undefined,
        newRole: 'OPERATOR',
      }),
    },
    publicUrl: undefined,
    isSecure,
    clientOf,
    now: Date.now,
  });
});

afterAll(async () => {
  await server.close();
  await registry.close();
  await bus.close();
  await database.close();
});

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly sameSite?: string;
}

/** As browsers do: on the way back from the provider, cookies with `Strict` stay behind. */
async function signInAs(name: string, jar: Map<string, Cookie>): Promise<string> {
  person = name;
  const ask = async (url: string, isSent: (cookie: Cookie) => boolean) => {
    const cookies = Object.fromEntries([...jar.values()].filter(isSent).map((each) => [each.name, each.value]));
    const answer = await server.inject({ url, cookies });
    for (const cookie of answer.cookies) jar.set(cookie.name, cookie);
    return answer;
  };
  await ask('/api/sign-in/oidc', () => true);
  const back = await ask('/api/sign-in/oidc/callback?state=state', ({ sameSite }) => sameSite === 'Lax');
  expect(back.headers.location).toBe('/');
  return jar.get('flotilla-session')?.value ?? '';
}

describe('a sign-in by the identity provider', () => {
  it('ends the session that the browser had before', async () => {
    const jar = new Map<string, Cookie>();
    const former = await signInAs('ada', jar);
    expect(await signIns.whoIs(former)).toMatchObject({ user: { name: 'ada' } });
    const next = await signInAs('bob', jar);
    expect(await signIns.whoIs(next)).toMatchObject({ user: { name: 'bob' } });
    expect(await signIns.whoIs(former)).toBeUndefined();
    const elsewhere = await signInAs('bob', new Map());
    expect(await signIns.whoIs(elsewhere)).toBeDefined();
    expect(await signIns.whoIs(next)).toBeDefined();
  });

  it('stands where the former session cannot be read', async () => {
    const jar = new Map<string, Cookie>();
    await signInAs('ada', jar);
    const read = vi.spyOn(signIns, 'formerOf').mockRejectedValueOnce(new Error('PostgreSQL did not answer.'));
    const next = await signInAs('bob', jar);
    expect(read).toHaveBeenCalledOnce();
    read.mockRestore();
    expect(await signIns.whoIs(next)).toMatchObject({ user: { name: 'bob' } });
  });
});
