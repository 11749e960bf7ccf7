/**
 * GraphQL as an integrator speaks it: HTTP with a bearer key, and graphql-transport-ws for
 * subscriptions.
 */
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { HubProcess } from '../hub/hub-process.js';
import { PATIENCE } from '../patience.js';

export interface GraphqlAnswer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: { readonly code?: string };
  }[];
}

/** Longer than any request takes, ms. A frozen connection does not hold a story for ever. */
const ANSWER_WITHIN_MS = 60_000 * PATIENCE;

type Target = Pick<HubProcess, 'httpUrl' | 'adminKey'>;

/**
 * Sends one operation; `key` null sends none. What the budget of the key still has is left out.
 * `from`: the address that a proxy in front of the hub reports.
 */
export async function send(
  hub: Target,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  key: string | null = hub.adminKey,
  from?: string,
): Promise<GraphqlAnswer> {
  const response = await fetch(`${hub.httpUrl}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(from === undefined ? {} : { 'x-forwarded-for': from }),
    },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const { data, errors } = (await response.json()) as GraphqlAnswer;
  return { ...(data !== undefined && { data }), ...(errors && { errors }) };
}

/**
 * Sends one operation that must succeed, and returns its data as the caller knows it from the
 * schema.
 */
export async function ask<Data>(
  hub: Target,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<Data> {
  const answer = await send(hub, query, variables);
  if (answer.errors || !answer.data) throw new Error(`GraphQL refused: ${JSON.stringify(answer.errors)}`);
  return answer.data as Data;
}

/**
 * A subscription client; `dispose` ends it. `from`: the address that a proxy in front of the hub
 * reports.
 */
export function subscriptions(hub: Target, key: string = hub.adminKey, from?: string): Client {
  class Proxied extends WebSocket {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols, from === undefined ? {} : { headers: { 'x-forwarded-for': from } });
    }
  }
  return createClient({
    url: `${hub.httpUrl.replace('http', 'ws')}/graphql`,
    webSocketImpl: Proxied,
    connectionParams: { authorization: `Bearer ${key}` },
    retryAttempts: 0,
  });
}
