import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rememberedPage, rememberPage, signInMethods } from './sign-in-methods';

/** A browser tab at an address, as far as these functions use one. */
function openTab(url: string): void {
  const { pathname, search, hash } = new URL(url, 'http://hub.test');
  vi.stubGlobal('location', { pathname, search, hash });
  vi.stubGlobal('history', { state: null, replaceState: (_: unknown, __: string, next: string) => openTab(next) });
}

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
});
afterEach(() => void vi.unstubAllGlobals());

describe('the page before a sign-in at an identity provider', () => {
  it('is returned once, at the start page', () => {
    openTab('/jobs?show=live');
    rememberPage();
    openTab('/');
    expect(rememberedPage()).toBe('/jobs?show=live');
    expect(rememberedPage()).toBeUndefined();
  });

  it('does not replace a page that the viewer opened meanwhile', () => {
    openTab('/jobs');
    rememberPage();
    openTab('/devices');
    expect(rememberedPage()).toBeUndefined();
  });

  it.each(['//evil.test/', 'https://evil.test/', ''])('is never an address of another site: %s', (page) => {
    openTab('/');
    sessionStorage.setItem('flotilla.page', page);
    expect(rememberedPage()).toBeUndefined();
  });
});

describe('the ways to sign in', () => {
  it('are those of the hub, with the failure of the identity provider', async () => {
    openTab('/?sign-in=refused');
    vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ password: true, oidc: null })));
    expect(await signInMethods()).toEqual({ password: true, oidc: null, failure: { is: 'provider-refused' } });
  });

  it('are not waited for without end', async () => {
    openTab('/');
    const signals: unknown[] = [];
    vi.stubGlobal('fetch', (_: string, given?: RequestInit) => {
      signals.push(given?.signal);
      return Promise.reject(new DOMException('late', 'TimeoutError'));
    });
    expect(await signInMethods()).toMatchObject({ isUnread: true });
    expect(signals).toEqual([expect.any(AbortSignal)]);
  });

  it('are only keys until the hub answers', async () => {
    const unread = { password: false, oidc: null, isUnread: true };
    openTab('/?sign-in=failed');
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
    expect(await signInMethods()).toEqual({ ...unread, failure: { is: 'unreachable' } });
    openTab('/');
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('', { status: 500 })));
    expect(await signInMethods()).toEqual({ ...unread, failure: undefined });
  });

  it('report a failed attempt at the identity provider once, and keep the rest of the address', async () => {
    openTab('/jobs?show=live&sign-in=refused#top');
    vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ password: true, oidc: null })));
    expect((await signInMethods()).failure).toEqual({ is: 'provider-refused' });
    expect((await signInMethods()).failure).toBeUndefined();
    expect(location).toMatchObject({ pathname: '/jobs', search: '?show=live', hash: '#top' });
  });
});
