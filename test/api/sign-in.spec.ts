/**
 * People at a running hub: sign-in with a password, what a session may do, which origins it
 * accepts, and how it ends.
 */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Browser } from '../src/api/browser.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

const ADMIN = 'admin@flotilla.local';
const PASSWORD = 'correct horse battery';

let hub: HubProcess;
let adminPassword: string;
let admin: Browser;

interface UserPayload {
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly role: string;
    readonly disabledAt: string | null;
  } | null;
  readonly userErrors: readonly { readonly code: string; readonly path: readonly string[]; readonly message: string }[];
}

const FIELDS = '{ user { id email role disabledAt } userErrors { code path message } }';
const CREATE = `mutation ($input: UserInput!) { createUser(input: $input) ${FIELDS} }`;
const UPDATE = `mutation ($id: ID!, $input: UserInput!) { updateUser(id: $id, input: $input) ${FIELDS} }`;
const CHANGE = `mutation ($current: String!, $next: String!) {
  changePassword(current: $current, new: $next) ${FIELDS} }`;
const VIEWER = '{ viewer { name kind scopes user { email role } } }';

const createUser = async (input: Readonly<Record<string, unknown>>) =>
  (await ask<{ createUser: UserPayload }>(hub, CREATE, { input })).createUser;
const updateUser = async (id: string, input: Readonly<Record<string, unknown>>) =>
  (await ask<{ updateUser: UserPayload }>(hub, UPDATE, { id, input })).updateUser;

/** A new person, and a browser in which they are signed in. */
async function person(name: string, role = 'OPERATOR') {
  const input = { name, email: `${name}@example.net`, role, password: PASSWORD };
  const id = (await createUser(input)).user?.id ?? '';
  const browser = new Browser(hub);
  expect((await browser.signIn(input.email, PASSWORD)).status).toBe(200);
  return { id, input, browser };
}

const isIn = async (browser: Browser) => (await browser.graphql('{ viewer { name } }')).status === 200;

beforeAll(async () => {
  hub = await startHub({ embedded: true, env: { FLOTILLA_SIGN_IN_LOCK_SECONDS: '2' } });
  adminPassword = readFileSync(path.join(hub.dataDir, 'admin.password'), 'utf8').trim();
  admin = new Browser(hub);
  expect((await admin.signIn(ADMIN, adminPassword)).status).toBe(200);
});

afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  expect(hub.log()).not.toMatch(/unhandled|failed inside/i);
  removeDataDir(hub.dataDir);
});

describe('the first admin', () => {
  it('is made at the first start, the password kept where only the owner reads it and never printed', () => {
    expect(hub.log()).toContain(`The first password of ${ADMIN} is in ${path.join(hub.dataDir, 'admin.password')}`);
    expect(hub.log()).not.toContain(adminPassword);
    expect(statSync(path.join(hub.dataDir, 'admin.password')).mode & 0o777).toBe(0o600);
  });

  it('may do everything, and is who they are', async () => {
    expect(await admin.graphql(VIEWER)).toMatchObject({
      status: 200,
      data: { viewer: { name: 'Admin', kind: 'USER', scopes: ['ADMIN'], user: { email: ADMIN, role: 'ADMIN' } } },
    });
    expect(
      (await admin.graphql<{ users: unknown[] }>('{ users { id lastSignInAt } }')).data?.users.length,
    ).toBeGreaterThan(0);
    expect(await ask(hub, VIEWER)).toMatchObject({ viewer: { kind: 'KEY', user: null } });
  });
});

describe('signing in', () => {
  it('answers with who it is, and with cookies that no script and no other site has', async () => {
    const browser = new Browser(hub);
    const answer = await browser.signIn(ADMIN.toUpperCase(), adminPassword);
    expect(await answer.json()).toEqual({ viewer: { name: 'Admin', scopes: ['ADMIN'] } });
    const session = answer.headers.getSetCookie().find((text) => text.startsWith('flotilla-session='));
    expect(session).toMatch(/^flotilla-session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('gives the same answer for a wrong password and an unknown user', async () => {
    const answers = await Promise.all(
      [
        [ADMIN, 'not the password'],
        ['unknown@example.net', 'not the password'],
        [ADMIN, 'x'.repeat(3_000)],
      ].map(async ([email = '', password = '']) => {
        const answer = await new Browser(hub).signIn(email, password);
        return [answer.status, await answer.text(), answer.headers.getSetCookie().length];
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toEqual([401, '{"code":"UNAUTHENTICATED","message":"Wrong e-mail or password."}', 0]);
  });

  it('gives a new token each time, and the former one ends', async () => {
    const { browser, input } = await person('rotating');
    const former = browser.onPageOf(hub.httpUrl);
    expect((await browser.signIn(input.email, PASSWORD)).status).toBe(200);
    expect([await isIn(browser), await isIn(former)]).toEqual([true, false]);
  });

  it.each([
    ['no JSON', 400, { 'content-type': 'application/json' }, '{'],
    ['a form', 415, { 'content-type': 'application/x-www-form-urlencoded' }, 'email=a&password=b'],
    ['text, as a form of another site sends it', 415, { 'content-type': 'text/plain' }, '{"email":"a","password":"b"}'],
    ['a list', 400, { 'content-type': 'application/json' }, '[]'],
    ['a number for a password', 400, { 'content-type': 'application/json' }, '{"email":"a@b","password":1}'],
    [
      'too much',
      413,
      { 'content-type': 'application/json' },
      JSON.stringify({ email: 'a@b', password: 'x'.repeat(10_000) }),
    ],
  ])('refuses %s with %i', async (_what, status, headers, body) => {
    const answer = await new Browser(hub).fetch('/api/sign-in', { method: 'POST', headers, body });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  it('shows a page the ways of sign-in', async () => {
    expect(await (await fetch(`${hub.httpUrl}/api/sign-in`)).json()).toEqual({ password: true, oidc: null });
    expect((await fetch(`${hub.httpUrl}/api/sign-in/oidc`)).status).toBe(404);
  });
});

describe('the lock', () => {
  const fail = async (email: string, browser = new Browser(hub)) => {
    const statuses: number[] = [];
    for (let times = 0; times < 6; times += 1)
      statuses.push((await browser.signIn(email, 'wrong, and wrong again')).status);
    return statuses;
  };

  it('follows five failures, also of unknown users, and ends; a known browser is not locked out', async () => {
    const { browser, input } = await person('locked');
    await browser.post('/api/sign-out');
    const locked = [401, 401, 401, 401, 401, 429];
    expect(await fail(input.email)).toEqual(locked);
    const stranger = await new Browser(hub).signIn(input.email, PASSWORD);
    expect([stranger.status, Number(stranger.headers.get('retry-after'))]).toEqual([
      429,
      expect.toSatisfy((s: number) => s >= 1 && s <= 2),
    ]);
    expect(await fail('unknown-user@example.net')).toEqual(locked);
    expect((await browser.signIn(input.email, PASSWORD)).status).toBe(200);
    await browser.post('/api/sign-out');
    // The known browser does not guess either.
    expect(await fail(input.email, browser)).toEqual(locked);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect((await new Browser(hub).signIn(input.email, PASSWORD)).status).toBe(200);
  });
});

describe('a session and pages of other sites', () => {
  const elsewhere = 'https://elsewhere.example';

  it.each([
    ['another origin', elsewhere, {}],
    ['another port of this host', 'http://127.0.0.1:1', {}],
    ['an opaque origin', 'null', {}],
    ['no word on the origin', null, {}],
    ['a browser that says cross-site', null, { 'sec-fetch-site': 'cross-site' }],
    ['a browser that says same-site, with any origin', null, { 'sec-fetch-site': 'same-site' }],
  ])('changes nothing and answers nothing for %s', async (_what, origin, headers: Record<string, string>) => {
    const page = admin.onPageOf(origin);
    const json = { 'content-type': 'application/json', ...headers };
    const body = JSON.stringify({ query: 'mutation { deleteToolPolicy(pattern: "self.reboot") { pattern } }' });
    for (const path of ['/graphql', '/api/uploads', '/api/firmware', '/api/sign-out', '/api/sign-out-everywhere'])
      expect((await page.fetch(path, { method: 'POST', headers: json, body })).status, path).toBe(403);
    const { toolPolicies } = await ask<{ toolPolicies: { pattern: string }[] }>(hub, '{ toolPolicies { pattern } }');
    expect(toolPolicies.map(({ pattern }) => pattern)).toContain('self.reboot');
    expect(await isIn(admin)).toBe(true);
  });

  it('counts for the hub’s own pages, by Origin or by Sec-Fetch-Site', async () => {
    expect(await isIn(admin)).toBe(true);
    const answer = await admin.onPageOf(null).fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: '{"query":"{ viewer { name } }"}',
    });
    expect(answer.status).toBe(200);
  });

  it('rejects a sign-in from a page elsewhere', async () => {
    expect((await new Browser(hub, elsewhere).signIn(ADMIN, adminPassword)).status).toBe(403);
    expect((await new Browser(hub, null).signIn(ADMIN, adminPassword)).status).toBe(200);
  });

  it('reads by GET, which never changes anything', async () => {
    const get = (query: string) => admin.onPageOf(null).fetch(`/graphql?query=${encodeURIComponent(query)}`);
    expect((await get('{ viewer { name } }')).status).toBe(200);
    const mutation = await get('mutation { deleteToolPolicy(pattern: "self.reboot") { pattern } }');
    expect(mutation.status).toBe(405);
    const { toolPolicies } = await ask<{ toolPolicies: unknown[] }>(hub, '{ toolPolicies { pattern } }');
    expect(toolPolicies).toContainEqual({ pattern: 'self.reboot' });
  });

  it.each([
    ['text/plain', 415, '{"query":"{ viewer { name } }"}'],
    ['application/x-www-form-urlencoded', 415, 'query=%7Bviewer%7Bname%7D%7D'],
    ['multipart/form-data; boundary=b', 415, '--b--'],
    ['application/graphql', 415, '{ viewer { name } }'],
  ])('takes no GraphQL as %s', async (type, status, body) => {
    const answer = await admin.fetch('/graphql', { method: 'POST', headers: { 'content-type': type }, body });
    expect([answer.status, await answer.text()]).toEqual([status, expect.not.stringContaining('Admin')]);
  });
});

describe('where a session counts', () => {
  const socketOf = (browser: Browser, headers = browser.headers) =>
    createClient({
      url: `${hub.httpUrl.replace('http', 'ws')}/graphql`,
      webSocketImpl: class extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, { headers });
        }
      },
      retryAttempts: 0,
    });
  const subscribe = (browser: Browser, headers?: Record<string, string>) =>
    socketOf(browser, headers).iterate({ query: 'subscription { deviceChanged { id } }' }).next();

  it('below /api, and not at /mcp', async () => {
    const { browser } = await person('reader', 'VIEWER');
    expect((await browser.fetch('/api/uploads/nothing')).status).toBe(404);
    expect((await browser.post('/api/uploads')).status).toBe(403);
    expect((await new Browser(hub).fetch('/api/uploads/nothing')).status).toBe(401);
    expect((await admin.post('/mcp')).status).toBe(401);
  });

  it('over WebSocket: the cookie of the upgrade stands for the key', async () => {
    const { browser } = await person('listener', 'VIEWER');
    const client = socketOf(browser);
    const answer = await client.iterate<{ viewer: { name: string } }>({ query: '{ viewer { name } }' }).next();
    expect(answer.value).toMatchObject({ data: { viewer: { name: 'listener' } } });
    await client.dispose();
  });

  it.each<[string, () => Record<string, string>]>([
    ['no cookie', () => ({ origin: hub.httpUrl })],
    ['a wrong cookie', () => ({ origin: hub.httpUrl, cookie: `flotilla-session=${'x'.repeat(43)}` })],
    ["another site's page", () => admin.onPageOf('https://elsewhere.example').headers],
    ['no word on the page', () => admin.onPageOf(null).headers],
  ])('over WebSocket not with %s: 4403', async (_what, headers) => {
    await expect(subscribe(admin, headers())).rejects.toMatchObject({ code: 4403 });
  });

  it('ends a subscription at once when the session ends', async () => {
    const { id, input, browser } = await person('short-lived');
    const ended = subscribe(browser);
    ended.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = Date.now();
    expect((await updateUser(id, { ...input, password: undefined, disabled: true })).user?.disabledAt).not.toBeNull();
    await expect(ended).rejects.toMatchObject({ code: 4403 });
    // Without a notification the socket checks its session after 5 s at the earliest.
    expect(Date.now() - before).toBeLessThan(4_000);
    expect(await isIn(browser)).toBe(false);
    expect((await browser.signIn(input.email, PASSWORD)).status).toBe(401);
  });

  it('until it is signed out, here or everywhere', async () => {
    const { input, browser } = await person('leaving');
    const [second, third] = [new Browser(hub), new Browser(hub)];
    for (const each of [second, third]) await each.signIn(input.email, PASSWORD);
    const stolen = second.onPageOf(hub.httpUrl);
    expect((await second.post('/api/sign-out')).status).toBe(204);
    expect([second.cookies.has('flotilla-session'), await isIn(stolen), await isIn(third)]).toEqual([
      false,
      false,
      true,
    ]);
    expect(await (await browser.post('/api/sign-out-everywhere')).json()).toEqual({ sessions: 2 });
    expect([await isIn(browser), await isIn(third)]).toEqual([false, false]);
    expect((await browser.post('/api/sign-out')).status).toBe(401);
    expect(third.cookies.has('flotilla-session')).toBe(true);
    expect((await third.post('/api/sign-out')).status).toBe(401);
    expect(third.cookies.has('flotilla-session')).toBe(false);
  });
});

describe('users', () => {
  it('are an admin’s alone', async () => {
    const { browser } = await person('curious', 'FIRMWARE');
    expect((await browser.graphql('{ users { id } }')).codes).toEqual(['FORBIDDEN']);
    const input = { name: 'x', email: 'x@example.net', role: 'ADMIN' };
    expect((await browser.graphql(CREATE, { input })).codes).toEqual(['FORBIDDEN']);
  });

  it.each([
    ['a short password', { password: 'elevenchars' }, 'INVALID', 'password'],
    ['a password of one letter', { password: 'a'.repeat(12) }, 'INVALID', 'password'],
    ['a password without end', { password: 'ab cd'.repeat(41) }, 'INVALID', 'password'],
    ['no address', { email: null }, 'INVALID', 'email'],
    ['an invalid address', { email: 'someone' }, 'INVALID', 'email'],
    ['no name', { name: ' ' }, 'INVALID', 'name'],
    ['the address of another user', { email: 'ADMIN@flotilla.local' }, 'CONFLICT', 'email'],
  ])('are not made with %s', async (_what, change, code, field) => {
    const payload = await createUser({
      name: 'N',
      email: 'n@example.net',
      role: 'VIEWER',
      password: PASSWORD,
      ...change,
    });
    expect(payload).toMatchObject({ user: null, userErrors: [{ code, path: ['input', field] }] });
  });

  it('have the scopes of their role, and of a new one at once', async () => {
    const { id, input, browser } = await person('promoted', 'VIEWER');
    const scopes = async () => (await browser.graphql<{ viewer: { scopes: string[] } }>(VIEWER)).data?.viewer.scopes;
    const viewer = ['DEVICES_READ', 'JOBS_READ', 'EVENTS_READ'];
    const operator = [...viewer, 'DEVICES_WRITE', 'TOOLS_CALL', 'JOBS_WRITE'];
    expect(await scopes()).toEqual(viewer);
    await updateUser(id, { ...input, password: undefined, role: 'OPERATOR' });
    expect(await scopes()).toEqual(operator);
    await updateUser(id, { ...input, password: undefined, role: 'FIRMWARE' });
    expect(await scopes()).toEqual([...operator, 'FIRMWARE_WRITE', 'TOOLS_CALL_PRIVILEGED']);
  });

  it('lose all sessions with a reset password', async () => {
    const { id, input, browser } = await person('forgetful');
    await updateUser(id, { ...input, password: 'another horse battery' });
    expect(await isIn(browser)).toBe(false);
    expect((await browser.signIn(input.email, 'another horse battery')).status).toBe(200);
  });

  it('always have an admin', async () => {
    const { users } = await ask<{ users: { id: string; email: string }[] }>(hub, '{ users { id email } }');
    const id = users.find(({ email }) => email === ADMIN)?.id ?? '';
    for (const change of [{ role: 'OPERATOR' }, { role: 'ADMIN', disabled: true }])
      expect(await updateUser(id, { name: 'Admin', ...change })).toMatchObject({
        user: null,
        userErrors: [{ code: 'CONFLICT' }],
      });
    expect(await isIn(admin)).toBe(true);
  });

  it('change the own password, which signs all other browsers out', async () => {
    const { input, browser } = await person('careful');
    const other = new Browser(hub);
    await other.signIn(input.email, PASSWORD);
    const change = async (current: string, next: string) =>
      (await browser.graphql<{ changePassword: UserPayload }>(CHANGE, { current, next })).data?.changePassword
        .userErrors;
    expect(await change('not the password', 'a brand new password')).toMatchObject([
      { code: 'INVALID', path: ['current'] },
    ]);
    expect(await change(PASSWORD, 'short')).toMatchObject([{ code: 'INVALID', path: ['new'] }]);
    expect(await isIn(other)).toBe(true);
    expect(await change(PASSWORD, 'a brand new password')).toEqual([]);
    expect([await isIn(browser), await isIn(other)]).toEqual([true, false]);
    expect((await other.signIn(input.email, PASSWORD)).status).toBe(401);
    expect((await other.signIn(input.email, 'a brand new password')).status).toBe(200);
    const byKey = await ask<{ changePassword: UserPayload }>(hub, CHANGE, {
      current: PASSWORD,
      next: 'a brand new password',
    });
    expect(byKey.changePassword.userErrors).toMatchObject([{ code: 'INVALID' }]);
  });

  it('are in the audit trail without their passwords', async () => {
    const { id, browser } = await person('audited');
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
