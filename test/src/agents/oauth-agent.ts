/**
 * A hosted agent that connects by address alone: the OAuth client of the MCP SDK, and a person who
 * decides in a browser.
 */
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { Browser } from '../api/browser.js';
import { freePort } from '../api/identity-provider.js';
import { startHub, type HubProcess } from '../hub/hub-process.js';

type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>;
type Registered = NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>;

const REDIRECT = 'http://127.0.0.1:4711/callback';

/** A hub that knows its own address. */
export async function startPublicHub(env: Readonly<Record<string, string>> = {}): Promise<HubProcess> {
  const port = String(await freePort());
  return startHub({
    env: { FLOTILLA_HTTP_PORT: port, FLOTILLA_PUBLIC_URL: `http://127.0.0.1:${port}`, ...env },
  });
}

/** What an agent keeps between its requests. */
export class AgentMemory implements OAuthClientProvider {
  /** Where it sent the person last. */
  asked: URL | undefined;
  client: Registered | undefined;
  held: Tokens | undefined;
  #verifier = '';
  #server: OAuthDiscoveryState | undefined;

  constructor(
    readonly name: string,
    /** Where the browser goes after the decision. */
    readonly redirectUrl = REDIRECT,
  ) {}

  get clientMetadata() {
    return {
      client_name: this.name,
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  clientInformation = () => this.client;
  saveClientInformation = (client: Registered): void => void (this.client = client);
  tokens = () => this.held;
  saveTokens = (tokens: Tokens): void => void (this.held = tokens);
  redirectToAuthorization = (url: URL): void => void (this.asked = url);
  saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (server: OAuthDiscoveryState): void => void (this.#server = server);
  discoveryState = () => this.#server;
}

export interface AgentAnswer {
  readonly decision: 'allow' | 'deny';
  /** All that was requested where it is missing. */
  readonly scopes?: readonly string[];
  readonly groupId?: string;
}

export interface ShownRequest {
  readonly client: { readonly name: string; readonly host: string; readonly isLocal: boolean };
  readonly scopes: readonly { readonly name: string; readonly available: boolean }[];
}

/** The person opens the address of the agent, reads the page, and decides. */
export async function decide(browser: Browser, asked: URL, answer: AgentAnswer) {
  const opened = await browser.fetch(asked.href);
  expect(opened.status).toBe(303);
  const page = new URL(opened.headers.get('location') ?? '', asked).pathname;
  const shown = (await (await browser.fetch(`${page}/request`)).json()) as ShownRequest;
  const scopes = answer.scopes ?? shown.scopes.map(({ name }) => name);
  const decided = await browser.post(page, { ...answer, scopes });
  expect(decided.status).toBe(200);
  const { redirectTo } = (await decided.json()) as { readonly redirectTo: string };
  const back = await browser.fetch(redirectTo);
  return { shown, page, callback: new URL(back.headers.get('location') ?? '', asked) };
}

/** Connects as a user would: with the address of the hub, and the decision of the person. */
export async function connectByAddress(
  hub: HubProcess,
  memory: AgentMemory,
  browser: Browser,
  answer: AgentAnswer = { decision: 'allow' },
): Promise<{ readonly agent: Client; readonly shown: ShownRequest }> {
  const first = transportOf(hub, memory);
  await expect(newClient().connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
  if (memory.asked === undefined) throw new Error('The agent asked no person.');
  const { shown, callback } = await decide(browser, memory.asked, answer);
  await first.finishAuth(callback.searchParams);
  return { agent: await connectAgain(hub, memory), shown };
}

/** With the tokens that it has. */
export async function connectAgain(hub: HubProcess, memory: AgentMemory): Promise<Client> {
  const client = newClient();
  await client.connect(transportOf(hub, memory));
  return client;
}

function newClient(): Client {
  return new Client({ name: 'story', version: '1.0.0' });
}

function transportOf(hub: HubProcess, authProvider: AgentMemory): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL('/mcp', hub.httpUrl), { authProvider });
}
