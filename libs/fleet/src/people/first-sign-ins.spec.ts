/** Two first sign-ins of one person at the same time. */
import { randomUUID } from 'node:crypto';
import type { UserStore } from '@flotilla/registry';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openHub, silent, storeWith } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { defaultSignInLimits } from './sign-in-limits.js';
import { SignIns } from './sign-ins.js';
import type { OidcPerson } from './sign-ins.js';

const browser = { remoteAddress: '192.0.2.7', userAgent: 'Spec/1', formerSession: undefined };
const passwords = { hash: async () => undefined, verify: async () => false };

let fixture: HubFixture;
let hub: HubProcess;

beforeAll(async () => {
  fixture = await openHub({ withWorker: false });
  hub = fixture.hub;
});
afterAll(() => fixture.close());

const signInsWith = (users: UserStore) =>
  new SignIns({ ...hub, registry: { ...hub.registry, users }, logger: silent, passwords, limits: defaultSignInLimits });

function person(verifiedEmail?: string): OidcPerson {
  const identity = { issuer: 'https://id.example', subject: randomUUID() };
  return { identity, name: 'Ada', verifiedEmail, role: undefined, newRole: 'VIEWER' };
}

/** Signs in; another sign-in of the person is complete when this one begins to write. */
async function signInLater(ada: OidcPerson): Promise<readonly unknown[]> {
  const { users } = hub.registry;
  let first: unknown;
  const signInFirst = async () => (first = await signInsWith(users).withOidc(ada, browser));
  const racing = storeWith(users, {
    create: async (...given) => signInFirst().then(() => users.create(...given)),
    linkOidc: async (...given) => signInFirst().then(() => users.linkOidc(...given)),
  });
  const second = await signInsWith(racing).withOidc(ada, browser);
  return [first, second];
}

it('both succeed and make one account', async () => {
  for (const ada of [person(), person('ada@example.net')]) {
    const before = (await hub.registry.users.all()).length;
    expect(await signInLater(ada)).toMatchObject([{ kind: 'signed-in' }, { kind: 'signed-in' }]);
    expect(await hub.registry.users.all()).toHaveLength(before + 1);
  }
});

it('both succeed for an account that has the e-mail address', async () => {
  const bob = { name: 'Bob', email: 'bob@example.net', role: 'VIEWER' } as const;
  await hub.registry.users.create(bob, { at: hub.clock.now(), usersMax: 9 });
  expect(await signInLater(person(bob.email))).toMatchObject([{ kind: 'signed-in' }, { kind: 'signed-in' }]);
});

it('do not open an account of another identity with the e-mail address', async () => {
  const eve = person('bob@example.net');
  expect(await signInsWith(hub.registry.users).withOidc(eve, browser)).toEqual({ kind: 'refused' });
});
