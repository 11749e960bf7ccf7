/**
 * Sign-in by an identity provider: a real one on loopback, a hub that knows it, and one that cannot
 * reach it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../src/api/browser.js';
import { ask } from '../src/api/graphql-client.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import {
  freePort,
  startIdentityProvider,
  throughProvider,
  type IdentityProvider,
} from '../src/api/identity-provider.js';

const CREATE = 'mutation ($input: UserInput!) { createUser(input: $input) { user { id } userErrors { message } } }';
const UPDATE =
  'mutation ($id: ID!, $input: UserInput!) { updateUser(id: $id, input: $input) { userErrors { message } } }';

let provider: IdentityProvider;
let hub: HubProcess;
let providerPort: number;

beforeAll(async () => {
  providerPort = await freePort();
  // The provider starts after the hub, which does not wait for it.
  hub = await startHub({
    env: {
      FLOTILLA_OIDC_ISSUER: `http://127.0.0.1:${providerPort}`,
      FLOTILLA_OIDC_CLIENT_ID: 'flotilla',
      FLOTILLA_OIDC_CLIENT_SECRET: 'a secret between the two of them',
      FLOTILLA_OIDC_LABEL: 'Example ID',
      FLOTILLA_OIDC_ROLE_CLAIM: 'groups',
      FLOTILLA_OIDC_ROLES: 'fleet=operator,fleet-admins=admin,guests=viewer',
    },
  });
});

afterAll(async () => {
  await provider.close();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

/** Signs in by the provider as `login`; resolves to the browser and where it ended. */
async function signInAs(login: string, change: (callback: URL, browser: Browser) => void = () => undefined) {
  const browser = new Browser(hub, null);
  const begun = await browser.fetch('/api/sign-in/oidc');
  const callback = new URL(await throughProvider(begun.headers.get('location') ?? '', provider.issuer, login));
  change(callback, browser);
  const ended = await browser.fetch(callback.href);
  return { browser, ended, location: ended.headers.get('location') };
}

const viewerOf = async (browser: Browser) => {
  const page = browser.onPageOf(hub.httpUrl);
  const query = '{ viewer { name scopes user { id email role } } }';
  return (
    await page.graphql<{ viewer: { name: string; user: { id: string; email: string | null; role: string } } }>(query)
  ).data?.viewer;
};

const usersNow = async () =>
  (await ask<{ users: { id: string; email: string | null; role: string }[] }>(hub, '{ users { id email role } }'))
    .users;

describe('a provider that is away', () => {
  it('does not prevent sign-in with a password, and is found once it is available', async () => {
    expect(await (await fetch(`${hub.httpUrl}/api/sign-in`)).json()).toEqual({
      password: true,
      oidc: { label: 'Example ID', url: '/api/sign-in/oidc' },
    });
    const away = await fetch(`${hub.httpUrl}/api/sign-in/oidc`, { redirect: 'manual' });
    expect([away.status, await away.json()]).toMatchObject([503, { code: 'UNAVAILABLE' }]);
    provider = await startIdentityProvider(providerPort, () => `${hub.httpUrl}/api/sign-in/oidc/callback`);
    const begun = await fetch(`${hub.httpUrl}/api/sign-in/oidc`, { redirect: 'manual' });
    expect(begun.status).toBe(302);
    const url = new URL(begun.headers.get('location') ?? '');
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(url.searchParams.get(name), name).toMatch(/^[\w-]{43}$/);
    expect(begun.headers.getSetCookie()[0]).toMatch(/^flotilla-oidc=.+; HttpOnly; SameSite=Lax$/);
  });
});

describe('a person whom the provider knows', () => {
  it('gets an account with the role of the highest group, and keeps it with the current role next time', async () => {
    provider.people.set('ada', {
      name: 'Ada',
      email: 'Ada@example.net',
      email_verified: true,
      groups: ['guests', 'fleet'],
    });
    const first = await signInAs('ada');
    expect(first.location).toBe('/');
    const ada = await viewerOf(first.browser);
    expect(ada).toMatchObject({ name: 'Ada', user: { email: 'ada@example.net', role: 'OPERATOR' } });
    provider.people.set('ada', { name: 'Ada', email: 'other@example.net', email_verified: true, groups: ['guests'] });
    const again = await viewerOf((await signInAs('ada')).browser);
    expect(again?.user).toMatchObject({ id: ada?.user.id, role: 'VIEWER' });
  });

  it('is found by a verified e-mail address, and by none that is not verified', async () => {
    const input = { name: 'Bob', email: 'bob@example.net', role: 'OPERATOR' };
    const made = await ask<{ createUser: { user: { id: string } } }>(hub, CREATE, { input });
    const claims = { name: 'Bob', email: 'bob@example.net', groups: ['fleet'] };
    provider.people.set('mallory', { ...claims, email_verified: false });
    expect((await viewerOf((await signInAs('mallory')).browser))?.user.id).not.toBe(made.createUser.user.id);
    provider.people.set('bob', { ...claims, email_verified: true });
    expect((await viewerOf((await signInAs('bob')).browser))?.user.id).toBe(made.createUser.user.id);
    // The account has an owner now, so the e-mail address alone is not enough.
    provider.people.set('eve', { ...claims, email_verified: true });
    expect((await signInAs('eve')).location).toBe('/?sign-in=refused');
  });

  it('is rejected without a configured group, or with a disabled account', async () => {
    const before = await usersNow();
    provider.people.set('stranger', { name: 'S', email: 's@example.net', email_verified: true, groups: ['elsewhere'] });
    expect(await signInAs('stranger')).toMatchObject({ location: '/?sign-in=refused' });
    expect(await usersNow()).toEqual(before);
    const ada = before.find(({ email }) => email === 'ada@example.net');
    await ask(hub, UPDATE, { id: ada?.id, input: { name: 'Ada', role: 'VIEWER', disabled: true } });
    const refused = await signInAs('ada');
    expect([refused.location, refused.browser.cookies.has('flotilla-session')]).toEqual(['/?sign-in=refused', false]);
  });
});

describe('a browser with several tabs', () => {
  it('signs in by each of them, in any order', async () => {
    provider.people.set('dora', { name: 'Dora', email: 'dora@example.net', email_verified: true, groups: ['fleet'] });
    const browser = new Browser(hub, null);
    const begun = [await browser.fetch('/api/sign-in/oidc'), await browser.fetch('/api/sign-in/oidc')];
    for (const tab of begun.reverse()) {
      const callback = await throughProvider(tab.headers.get('location') ?? '', provider.issuer, 'dora');
      expect((await browser.fetch(callback)).headers.get('location')).toBe('/');
      expect(await viewerOf(browser)).toMatchObject({ name: 'Dora' });
    }
    expect(browser.cookies.has('flotilla-oidc')).toBe(false);
  });
});

describe('a way back that is not the one begun', () => {
  it.each<[string, (callback: URL, browser: Browser) => void]>([
    ['another browser', (_callback, browser) => browser.cookies.clear()],
    ['another state', (callback) => callback.searchParams.set('state', 'x'.repeat(43))],
    ['another code', (callback) => callback.searchParams.set('code', 'made-up')],
    [
      'another verifier',
      (_callback, { cookies }) => cookies.set('flotilla-oidc', `${cookies.get('flotilla-oidc') ?? ''}x`),
    ],
    [
      'another nonce',
      (_callback, { cookies }) => {
        const [state = '', , verifier = ''] = (cookies.get('flotilla-oidc') ?? '').split('.');
        cookies.set('flotilla-oidc', [state, 'x'.repeat(43), verifier].join('.'));
      },
    ],
    ['another issuer', (callback) => callback.searchParams.set('iss', 'https://elsewhere.example')],
  ])('does not sign in: %s', async (_what, change) => {
    provider.people.set('cleo', { name: 'Cleo', email: 'cleo@example.net', email_verified: true, groups: ['fleet'] });
    const reasons = () => hub.log().split('a sign-in by the identity provider failed').length;
    const before = reasons();
    const { ended, location, browser } = await signInAs('cleo', change);
    expect([ended.status, location, browser.cookies.has('flotilla-session')]).toEqual([302, '/?sign-in=failed', false]);
    await eventually(reasons, (count) => count > before);
  });
});
