/**
 * A real OpenID Connect provider on loopback: a page that signs in any given person with given
 * claims.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { Browser } from './browser.js';

type Claims = Readonly<Record<string, unknown>>;

export interface IdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who they are, by their subject. */
  readonly people: Map<string, Claims>;
  /** From where browsers are sent back; before the first sign-in. */
  close(): Promise<void>;
}

export async function startIdentityProvider(port: number, redirectUri: () => string): Promise<IdentityProvider> {
  const people = new Map<string, Claims>();
  const [clientId, clientSecret] = ['flotilla', 'a secret between the two of them'];
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri()],
        grant_types: ['authorization_code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ['of the story'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
  });
  const server: Server = createServer((request, response) => void provider.callback()(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    issuer,
    clientId,
    clientSecret,
    people,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Follows a browser from the hub to the provider, signs `login` in there, and comes back as far as
 * the callback's address.
 */
export async function throughProvider(start: string, issuer: string, login: string): Promise<string> {
  const browser = new Browser({ httpUrl: issuer }, null);
  let url = start;
  for (let step = 0; step < 10; step += 1) {
    const response = url.includes('/interaction/') ? await submit(browser, url, login) : await browser.fetch(url);
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`The provider stopped at ${url}: ${response.status} ${await response.text()}`);
    url = new URL(location, url).href;
    if (!url.startsWith(issuer)) return url;
  }
  throw new Error('The provider never led back.');
}

/** The development pages of oidc-provider: a login, then a consent. */
async function submit(browser: Browser, url: string, login: string): Promise<Response> {
  const page = await (await browser.fetch(url)).text();
  const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? '';
  const body = new URLSearchParams({ prompt, login, password: 'any' }).toString();
  return browser.fetch(url, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body });
}
