/** API keys as an administrator makes them. */
import { scopes as allScopes } from '@flotilla/client';
import { ask } from './graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

export type Scope = (typeof allScopes)[number];
/** Those that open one thing each: all but ADMIN, which is all of them. */
export const scopes = allScopes.filter((scope) => scope !== 'ADMIN');

export interface MadeKey {
  readonly id: string;
  readonly secret: string;
}

export async function makeKey(
  hub: HubProcess,
  of: readonly Scope[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<MadeKey> {
  const query = `mutation ($input: CreateApiKeyInput!) {
    createApiKey(input: $input) { apiKey { id } secret userErrors { message } }
  }`;
  const answer = await ask<{
    createApiKey: { apiKey: { id: string } | null; secret: string | null; userErrors: readonly object[] };
  }>(hub, query, { input: { name: of.join(' ').slice(0, 100), scopes: of, ...more } });
  const { apiKey, secret, userErrors } = answer.createApiKey;
  if (apiKey === null || secret === null) throw new Error(`createApiKey refused: ${JSON.stringify(userErrors)}`);
  return { id: apiKey.id, secret };
}

export async function revokeKey(hub: HubProcess, id: string): Promise<void> {
  await ask(hub, 'mutation ($id: ID!) { revokeApiKey(id: $id) { userErrors { message } } }', { id });
}
