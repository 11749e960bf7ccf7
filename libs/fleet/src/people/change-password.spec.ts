/** A person who changes the own password while the account or the session changes. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openHub } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { People } from './people.js';
import { defaultSignInLimits as limits } from './sign-in-limits.js';

let fixture: HubFixture;
let hub: HubProcess;

beforeAll(async () => {
  fixture = await openHub({ withWorker: false });
  hub = fixture.hub;
});
afterAll(() => fixture.close());

const asked = () => ({ at: hub.clock.now(), by: { actor: 'admin', remoteAddress: undefined } });
const old = 'the old password';

/** Changes the password; the new one is hashed once `meanwhile` is done. */
async function change(
  email: string,
  meanwhile: (userId: string, sessionId: string) => Promise<unknown>,
  current = old,
) {
  const { users, userSessions } = hub.registry;
  const created = await users.create(
    { name: 'Ada', email, role: 'VIEWER', passwordHash: `of ${old}` },
    { ...asked(), usersMax: 99 },
  );
  if ('refused' in created) throw new Error(created.refused);
  const { id } = created.user;
  const ends = { expiresAt: Date.now() + 3_600_000, sessionsMax: 5, keptMs: 3_600_000 };
  const browser = { remoteAddress: undefined, userAgent: undefined, way: 'password' } as const;
  const opened = await userSessions.open({ userId: id, ...ends, ...browser }, asked());
  const session = await userSessions.authenticate(opened?.token ?? '', 3_600_000);
  if (session === undefined) throw new Error('no session was opened');
  const people = new People({
    ...hub,
    limits,
    passwords: {
      hash: async (password) => meanwhile(id, session.id).then(() => `of ${password}`),
      verify: async (passwordHash, password) => passwordHash === `of ${password}`,
    },
  });
  const answer = await people.changePassword(
    session,
    { current, next: 'a new password' },
    {
      id,
      name: 'Ada',
      mayCallUserOnly: false,
      mayChangeFirmware: false,
    },
  );
  const { rows } = await hub.registry.audit.page({ subject: `user:${id}` }, { first: 99 });
  return {
    code: 'refusal' in answer ? answer.refusal.code : undefined,
    hash: await users.passwordHashOf(id),
    recorded: rows.filter(({ action }) => action === 'user.password_changed').length,
    refused: rows.filter(({ action }) => action === 'user.password_change_refused'),
  };
}

it('succeeds alone, and is recorded', async () => {
  const answer = await change('one@example.net', async () => undefined);
  expect(answer).toEqual({ code: undefined, hash: 'of a new password', recorded: 1, refused: [] });
});

it('does not replace a password that an admin has set meanwhile', async () => {
  const reset = (id: string) => hub.registry.users.update(id, { passwordHash: 'of the reset' }, asked());
  expect(await change('two@example.net', reset)).toEqual({
    code: 'CONFLICT',
    hash: 'of the reset',
    recorded: 0,
    refused: [],
  });
});

it.each([
  ['the person was disabled', (id: string) => hub.registry.users.update(id, { disabled: true }, asked())],
  ['the session ended', (_id: string, session: string) => hub.registry.userSessions.end(session, asked())],
  ['the person was signed out everywhere', (id: string) => hub.registry.userSessions.endAll(id, asked())],
])('is refused where %s meanwhile', async (what, meanwhile) => {
  const email = `${what.replaceAll(' ', '-')}@example.net`;
  expect(await change(email, meanwhile)).toEqual({ code: 'CONFLICT', hash: `of ${old}`, recorded: 0, refused: [] });
});

it('is refused where the account was deleted meanwhile', async () => {
  const remove = (id: string) => hub.registry.users.remove(id, asked());
  expect(await change('gone@example.net', remove)).toEqual({
    code: 'CONFLICT',
    hash: undefined,
    recorded: 0,
    refused: [],
  });
});

it('is refused with a wrong present password, which is recorded like a wrong sign-in', async () => {
  const answer = await change('wrong@example.net', async () => undefined, 'another password');
  expect(answer).toMatchObject({
    code: 'INVALID',
    hash: `of ${old}`,
    recorded: 0,
    refused: [{ actor: 'Ada', data: {} }],
  });
});
