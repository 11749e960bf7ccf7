/** Users at a running hub: who may make them, their roles, their passwords, and the audit trail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../src/api/browser.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, type HubProcess } from '../src/hub/hub-process.js';
import {
  adminEmail,
  createUserMutation,
  isSignedIn,
  password,
  userFields,
  People,
  type UserPayload,
} from '../src/api/people.js';

const VIEWER = '{ viewer { name kind scopes user { email role } } }';
const CHANGE = `mutation ($current: String!, $next: String!) {
  changePassword(current: $current, new: $next) ${userFields} }`;
const DELETE = 'mutation ($id: ID!) { deleteUser(id: $id) { deletedId userErrors { code message } } }';

let hub: HubProcess;
let people: People;
let admin: Browser;

beforeAll(async () => {
  people = await People.start();
  ({ hub, admin } = people);
});

afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|failed inside/i);
  removeDataDir(hub.dataDir);
});

describe('users', () => {
  it('are an admin’s alone', async () => {
    const { browser } = await people.person('curious', 'FIRMWARE');
    expect((await browser.graphql('{ users { id } }')).codes).toEqual(['FORBIDDEN']);
    const input = { name: 'x', email: 'x@example.net', role: 'ADMIN' };
    expect((await browser.graphql(createUserMutation, { input })).codes).toEqual(['FORBIDDEN']);
  });

  it.each([
    ['a short password', { password: 'elevenchars' }, 'INVALID', 'password'],
    ['a password of one letter', { password: 'a'.repeat(12) }, 'INVALID', 'password'],
    ['a password without end', { password: 'ab cd'.repeat(41) }, 'INVALID', 'password'],
    ['no address', { email: null }, 'INVALID', 'email'],
    ['an invalid address', { email: 'someone' }, 'INVALID', 'email'],
    ['no name', { name: ' ' }, 'INVALID', 'name'],
    ['a name left out', { name: undefined }, 'INVALID', 'name'],
    ['no role', { role: undefined }, 'INVALID', 'role'],
    ['the address of another user', { email: 'ADMIN@flotilla.local' }, 'CONFLICT', 'email'],
  ])('are not made with %s', async (_what, change, code, field) => {
    const payload = await people.create({
      name: 'N',
      email: 'n@example.net',
      role: 'VIEWER',
      password: password,
      ...change,
    });
    expect(payload).toMatchObject({ user: null, userErrors: [{ code, path: ['input', field] }] });
  });

  it('have the scopes of their role, and of a new one at once', async () => {
    const { id, input, browser } = await people.person('promoted', 'VIEWER');
    const scopes = async () => (await browser.graphql<{ viewer: { scopes: string[] } }>(VIEWER)).data?.viewer.scopes;
    const viewer = ['DEVICES_READ', 'JOBS_READ', 'EVENTS_READ'];
    const operator = [...viewer, 'DEVICES_WRITE', 'TOOLS_CALL', 'JOBS_WRITE'];
    expect(await scopes()).toEqual(viewer);
    await people.update(id, { ...input, password: undefined, role: 'OPERATOR' });
    expect(await scopes()).toEqual(operator);
    await people.update(id, { ...input, password: undefined, role: 'FIRMWARE' });
    expect(await scopes()).toEqual([...operator, 'FIRMWARE_WRITE', 'TOOLS_CALL_PRIVILEGED']);
  });

  it('stay disabled when something else is changed', async () => {
    const { id, input } = await people.person('away');
    await people.update(id, { ...input, password: undefined, disabled: true });
    const { user } = await people.update(id, { ...input, role: 'OPERATOR', password: undefined });
    expect(user).toMatchObject({ role: 'OPERATOR', disabledAt: expect.any(String) });
  });

  it('keep what a change leaves out, also what another admin has changed meanwhile', async () => {
    const { id, input } = await people.person('demoted', 'ADMIN');
    await people.update(id, { role: 'VIEWER', disabled: true });
    const kept = { email: input.email, role: 'VIEWER', disabledAt: expect.any(String) };
    expect(await people.update(id, { password: 'another horse battery' })).toMatchObject({ user: kept });
    expect(await people.update(id, { name: 'Renamed' })).toMatchObject({ user: kept });
    expect(await people.update(id, { name: ' ' })).toMatchObject({ userErrors: [{ path: ['input', 'name'] }] });
  });

  it('lose all sessions with a reset password', async () => {
    const { id, input, browser } = await people.person('forgetful');
    await people.update(id, { ...input, password: 'another horse battery' });
    expect(await isSignedIn(browser)).toBe(false);
    expect((await browser.signIn(input.email, 'another horse battery')).status).toBe(200);
  });

  it('lose all sessions when an admin signs them out, and can sign in again', async () => {
    const { id, input, browser } = await people.person('elsewhere');
    const other = new Browser(hub);
    await other.signIn(input.email, password);
    const signOut = `mutation ($id: ID!) { signOutUser(id: $id) { endedSessions userErrors { code } } }`;
    expect(await ask(hub, signOut, { id })).toEqual({ signOutUser: { endedSessions: 2, userErrors: [] } });
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([false, false]);
    expect((await browser.signIn(input.email, password)).status).toBe(200);
    const unknown = '01990000-0000-7000-8000-000000000099';
    expect(await ask(hub, signOut, { id: unknown })).toMatchObject({
      signOutUser: { endedSessions: null, userErrors: [{ code: 'NOT_FOUND' }] },
    });
  });

  it('are deleted with their sessions, and the address is free again', async () => {
    const { id, input, browser } = await people.person('leaving');
    expect(await ask(hub, DELETE, { id })).toEqual({ deleteUser: { deletedId: id, userErrors: [] } });
    expect(await isSignedIn(browser)).toBe(false);
    expect((await browser.signIn(input.email, password)).status).toBe(401);
    expect(await ask(hub, DELETE, { id })).toMatchObject({ deleteUser: { userErrors: [{ code: 'NOT_FOUND' }] } });
    expect((await people.create(input)).userErrors).toEqual([]);
  });

  it('always have an admin', async () => {
    const { users } = await ask<{ users: { id: string; email: string }[] }>(hub, '{ users { id email } }');
    const id = users.find(({ email }) => email === adminEmail)?.id ?? '';
    for (const change of [{ role: 'OPERATOR' }, { role: 'ADMIN', disabled: true }])
      expect(await people.update(id, { name: 'Admin', ...change })).toMatchObject({
        user: null,
        userErrors: [{ code: 'CONFLICT' }],
      });
    expect(await ask(hub, DELETE, { id })).toMatchObject({
      deleteUser: { deletedId: null, userErrors: [{ code: 'CONFLICT' }] },
    });
    expect(await isSignedIn(admin)).toBe(true);
  });

  it('change the own password, which signs all other browsers out', async () => {
    const { input, browser } = await people.person('careful');
    const other = new Browser(hub);
    await other.signIn(input.email, password);
    const change = async (current: string, next: string) =>
      (await browser.graphql<{ changePassword: UserPayload }>(CHANGE, { current, next })).data?.changePassword
        .userErrors;
    expect(await change('not the password', 'a brand new password')).toMatchObject([
      { code: 'INVALID', path: ['current'] },
    ]);
    expect(await change(password, 'short')).toMatchObject([{ code: 'INVALID', path: ['new'] }]);
    expect(await isSignedIn(other)).toBe(true);
    expect(await change(password, 'a brand new password')).toEqual([]);
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([true, false]);
    expect((await other.signIn(input.email, password)).status).toBe(401);
    expect((await other.signIn(input.email, 'a brand new password')).status).toBe(200);
    const byKey = await ask<{ changePassword: UserPayload }>(hub, CHANGE, {
      current: password,
      next: 'a brand new password',
    });
    expect(byKey.changePassword.userErrors).toMatchObject([{ code: 'INVALID' }]);
  });

  it('are in the audit trail without their passwords', async () => {
    const { id, browser } = await people.person('audited');
    await browser.graphql('mutation { deleteToolPolicy(pattern: "nothing.like.it") { pattern } }');
    await browser.post('/api/sign-out');
    const query = `query ($subject: String!) { auditEntries(filter: {subject: $subject}) {
        nodes { action actor remoteAddress data } } }`;
    const { auditEntries } = await ask<{ auditEntries: { nodes: { action: string; actor: string }[] } }>(hub, query, {
      subject: `user:${id}`,
    });
    expect(auditEntries.nodes.map(({ action, actor }) => [action, actor])).toEqual([
      ['user.signed_out', 'audited@example.net'],
      ['user.signed_in', 'audited@example.net'],
      ['user.created', 'admin'],
    ]);
    expect(auditEntries.nodes[2]).toMatchObject({ data: { password: '***' }, remoteAddress: '127.0.0.1' });
    expect(JSON.stringify(auditEntries)).not.toMatch(/argon2|horse/);
  });
});
