/**
 * Sends operations of the explorer to the hub that serves this page, as the signed-in person:
 * queries and mutations over HTTP, subscriptions over another WebSocket.
 */
import type { GraphiQLProps } from 'graphiql';
import { createClient, type Client } from 'graphql-ws/client';
import { authorization } from '../../hub/session';
import { operationKindOf } from './operation-kind';

type Fetcher = GraphiQLProps['fetcher'];

interface HubFetcher {
  readonly fetcher: Fetcher;
  readonly close: () => void;
}

export function openHubFetcher(): HubFetcher {
  let socket: Client | undefined;
  const subscribe = (payload: Parameters<Client['iterate']>[0]) => {
    socket ??= createClient({
      url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
      connectionParams: authorization,
    });
    return socket.iterate(payload);
  };
  const fetcher: Fetcher = ({ query, operationName, variables }, options) => {
    const payload = {
      query,
      ...(operationName === undefined || operationName === null ? {} : { operationName }),
      ...(isRecord(variables) ? { variables } : {}),
    };
    const kind = operationKindOf(options?.documentAST?.definitions ?? [], operationName);
    // Errors are JSON here, without the methods that the types of GraphiQL promise.
    return (kind === 'subscription' ? subscribe(payload) : post(payload)) as ReturnType<Fetcher>;
  };
  return { fetcher, close: () => void socket?.dispose() };
}

async function post(payload: object): Promise<object> {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...authorization() },
    body: JSON.stringify(payload),
  });
  return (await response.json()) as object;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
