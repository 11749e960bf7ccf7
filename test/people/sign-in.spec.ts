/**
 * People at a running hub: sign-in with a password, what a session may do, which origins it
 * accepts, and how it ends.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Browser } from '../src/api/browser.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, type HubProcess } from '../src/hub/hub-process.js';
import { adminEmail, isSignedIn, password, People } from '../src/api/people.js';

const VIEWER = '{ viewer { name kind scopes user { email role } } }';

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

describe('the first admin', () => {
  it('is made at the first start, the password kept where only the owner reads it and never printed', () => {
    expect(hub.log()).toContain(
      `The first password of ${adminEmail} is in ${path.join(hub.dataDir, 'admin.password')}`,
    );
    expect(hub.log()).not.toContain(people.adminPassword);
    expect(statSync(path.join(hub.dataDir, 'admin.password')).mode & 0o777).toBe(0o600);
  });

  it('may do everything, and is who they are', async () => {
    expect(await admin.graphql(VIEWER)).toMatchObject({
      status: 200,
      data: { viewer: { name: 'Admin', kind: 'USER', scopes: ['ADMIN'], user: { email: adminEmail, role: 'ADMIN' } } },
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
    const answer = await browser.signIn(adminEmail.toUpperCase(), people.adminPassword);
    expect(await answer.json()).toEqual({ viewer: { name: 'Admin', scopes: ['ADMIN'] } });
    const session = answer.headers.getSetCookie().find((text) => text.startsWith('flotilla-session='));
    expect(session).toMatch(/^flotilla-session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('gives the same answer for a wrong password and an unknown user', async () => {
    const answers = await Promise.all(
      [
        [adminEmail, 'not the password'],
        ['unknown@example.net', 'not the password'],
        [adminEmail, 'x'.repeat(3_000)],
      ].map(async ([email = '', password = '']) => {
        const answer = await new Browser(hub).signIn(email, password);
        return [answer.status, await answer.text(), answer.headers.getSetCookie().length];
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toEqual([401, '{"code":"UNAUTHENTICATED","message":"Wrong e-mail or password."}', 0]);
  });

  it('gives a new token each time, and the former one ends', async () => {
    const { browser, input } = await people.person('rotating');
    const former = browser.onPageOf(hub.httpUrl);
    expect((await browser.signIn(input.email, password)).status).toBe(200);
    expect([await isSignedIn(browser), await isSignedIn(former)]).toEqual([true, false]);
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
    const { browser, input } = await people.person('locked');
    await browser.post('/api/sign-out');
    const locked = [401, 401, 401, 401, 401, 429];
    expect(await fail(input.email)).toEqual(locked);
    const stranger = await new Browser(hub).signIn(input.email, password);
    expect([stranger.status, Number(stranger.headers.get('retry-after'))]).toEqual([
      429,
      expect.toSatisfy((s: number) => s >= 1 && s <= 2),
    ]);
    expect(await fail('unknown-user@example.net')).toEqual(locked);
    expect((await browser.signIn(input.email, password)).status).toBe(200);
    await browser.post('/api/sign-out');
    // The known browser does not guess either.
    expect(await fail(input.email, browser)).toEqual(locked);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect((await new Browser(hub).signIn(input.email, password)).status).toBe(200);
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
    expect(await isSignedIn(admin)).toBe(true);
  });

  it('counts for the hub’s own pages, by Origin or by Sec-Fetch-Site', async () => {
    expect(await isSignedIn(admin)).toBe(true);
    const answer = await admin.onPageOf(null).fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: '{"query":"{ viewer { name } }"}',
    });
    expect(answer.status).toBe(200);
  });

  it('rejects a sign-in from a page elsewhere', async () => {
    expect((await new Browser(hub, elsewhere).signIn(adminEmail, people.adminPassword)).status).toBe(403);
    expect((await new Browser(hub, null).signIn(adminEmail, people.adminPassword)).status).toBe(200);
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
    const { browser } = await people.person('reader', 'VIEWER');
    expect((await browser.fetch('/api/uploads/nothing')).status).toBe(404);
    expect((await browser.post('/api/uploads')).status).toBe(403);
    expect((await new Browser(hub).fetch('/api/uploads/nothing')).status).toBe(401);
    expect((await admin.post('/mcp')).status).toBe(401);
  });

  it('over WebSocket: the cookie of the upgrade stands for the key', async () => {
    const { browser } = await people.person('listener', 'VIEWER');
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
    const { id, input, browser } = await people.person('short-lived');
    const ended = subscribe(browser);
    ended.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = Date.now();
    expect(
      (await people.update(id, { ...input, password: undefined, disabled: true })).user?.disabledAt,
    ).not.toBeNull();
    await expect(ended).rejects.toMatchObject({ code: 4403 });
    // Without a notification the socket checks its session after 5 s at the earliest.
    expect(Date.now() - before).toBeLessThan(4_000);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await browser.signIn(input.email, password)).status).toBe(401);
  });

  it('until it is signed out, here or everywhere', async () => {
    const { input, browser } = await people.person('leaving');
    const [second, third] = [new Browser(hub), new Browser(hub)];
    for (const each of [second, third]) await each.signIn(input.email, password);
    const stolen = second.onPageOf(hub.httpUrl);
    expect((await second.post('/api/sign-out')).status).toBe(204);
    expect([second.cookies.has('flotilla-session'), await isSignedIn(stolen), await isSignedIn(third)]).toEqual([
      false,
      false,
      true,
    ]);
    expect(await (await browser.post('/api/sign-out-everywhere')).json()).toEqual({ sessions: 2 });
    expect([await isSignedIn(browser), await isSignedIn(third)]).toEqual([false, false]);
    expect((await browser.post('/api/sign-out')).status).toBe(401);
    expect(third.cookies.has('flotilla-session')).toBe(true);
    expect((await third.post('/api/sign-out')).status).toBe(401);
    expect(third.cookies.has('flotilla-session')).toBe(false);
  });
});
