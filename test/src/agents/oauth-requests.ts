/** Requests that an agent makes without the client of the MCP SDK. */
import { expect } from 'vitest';
import type { HubProcess } from '../hub/hub-process.js';
import { AgentMemory } from './oauth-agent.js';

/** To list the tools where no other body is given. */
export function askMcp(
  hub: HubProcess,
  token?: string,
  body: unknown = { jsonrpc: '2.0', id: 1, method: 'tools/list' },
): Promise<Response> {
  return fetch(`${hub.httpUrl}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
}

export function tokenRequest(
  hub: HubProcess,
  { client }: AgentMemory,
  parameters: Readonly<Record<string, string>>,
): Promise<Response> {
  const body = new URLSearchParams({ ...parameters, client_id: client?.client_id ?? '' });
  return fetch(`${hub.httpUrl}/oauth/token`, { method: 'POST', body });
}

/** Registers a client, and returns the address that it would open for a person. */
export async function authorizeUrl(hub: HubProcess, change: Readonly<Record<string, string>>): Promise<URL> {
  const memory = new AgentMemory('Asker');
  const body = JSON.stringify(memory.clientMetadata);
  const headers = { 'content-type': 'application/json' };
  const registered = await fetch(`${hub.httpUrl}/oauth/register`, { method: 'POST', headers, body });
  expect(registered.status).toBe(201);
  const { client_id: id } = (await registered.json()) as { client_id: string };
  const url = new URL('/oauth/authorize', hub.httpUrl);
  const parameters = {
    client_id: id,
    response_type: 'code',
    redirect_uri: memory.redirectUrl,
    state: 's',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    ...change,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== '') url.searchParams.set(name, value);
  return url;
}
