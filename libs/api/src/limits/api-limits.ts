/**
 * All limits of the API, each with unit and reason. Deployments can change them; tests reduce them.
 */

export interface ApiLimits {
  /**
   * Bytes of an HTTP body or WebSocket message; several times the largest filter of a job with
   * arguments.
   */
  readonly requestBytesMax: number;
  /** Tokens of a query's text: parsing is paid before anything is known of the query. */
  readonly queryTokensMax: number;
  /** Nesting of fields. The longest useful path (job, target, device, tool, policy) has 9. */
  readonly queryDepthMax: number;
  /**
   * Nesting of brackets in a document: fields with inline fragments count twice, plus arguments and
   * JSON.
   */
  readonly queryBracketsMax: number;
  /** Fields renamed with an alias in one query: each may be a whole list again. */
  readonly queryAliasesMax: number;
  /** Directives in one query: each is looked at again for each object. */
  readonly queryDirectivesMax: number;
  /** Mutations in one operation: each holds a place while a device or a worker does its part. */
  readonly operationMutationsMax: number;
  /**
   * Points of one operation: about the number of objects that it can return (operation-cost.ts).
   */
  readonly queryCostMax: number;
  /**
   * Ms of a query: far longer than a page of a large fleet takes, and shorter than proxies wait.
   */
  readonly operationMsMax: number;
  /**
   * Points of one key or person per second: 50 of the most expensive operations, or some 10,000
   * calls.
   */
  readonly costPerSecondMax: number;
  /** Points of each request to `/mcp` or below `/api/`. */
  readonly requestCost: number;
  /** Documents that are kept by their hash, the latest ones, for all keys together. */
  readonly persistedQueriesMax: number;
  /** Characters of a document that is kept by its hash; one of an application has some hundred. */
  readonly persistedQueryLengthMax: number;
  /** WebSocket connections with a valid key or session. Each holds its operations in memory. */
  readonly socketsMax: number;
  /**
   * WebSocket connections without a valid connection_init. They never use the places of the others.
   */
  readonly unauthenticatedSocketsMax: number;
  /**
   * Of these, from one address (IPv6: one /64): an office with hundreds of clients reconnects at
   * once.
   */
  readonly unauthenticatedSocketsPerAddressMax: number;
  /** Ms until such a connection is destroyed: several round trips of a slow network. */
  readonly unauthenticatedMsMax: number;
  /** Bytes that it may send until then. A connection_init has some 200. */
  readonly unauthenticatedBytesMax: number;
  /** Ms that a peer has to answer a close frame before its socket is destroyed. */
  readonly socketClosingMsMax: number;
  /** Operations open at once on one WebSocket connection. */
  readonly operationsPerSocketMax: number;
  /**
   * Changes that wait for a slow subscriber. Beyond it changes of devices are dropped, oldest
   * first, and event subscriptions end with TOO_SLOW. Holds several commits of the event writer.
   */
  readonly subscriptionQueueMax: number;
  /**
   * Ms between checks of the caller of an open WebSocket, stream, export or upload; a revoked key
   * loses it by then.
   */
  readonly keyCheckMs: number;
  /** Bytes that wait for one slow socket before it is closed. */
  readonly socketBacklogBytesMax: number;
  /**
   * Requests of agents at a time, with open streams; each holds a server of the MCP SDK in memory.
   */
  readonly agentRequestsMax: number;
  /** Ms to gather changes before agents are notified, because each agent then lists all tools. */
  readonly agentNotificationMs: number;
  /** Ms between keep-alive comments on a stream; proxies close silent streams after a minute. */
  readonly agentKeepAliveMs: number;
}

/** Rows of one page. */
export const pageRowsMax = 200;

export const defaultApiLimits: ApiLimits = {
  requestBytesMax: 1_048_576,
  queryTokensMax: 5_000,
  queryDepthMax: 15,
  queryBracketsMax: 100,
  queryAliasesMax: 50,
  queryDirectivesMax: 50,
  operationMutationsMax: 50,
  queryCostMax: 10_000,
  operationMsMax: 30_000,
  costPerSecondMax: 500_000,
  requestCost: 50,
  persistedQueriesMax: 1_000,
  persistedQueryLengthMax: 16_384,
  socketsMax: 1_000,
  unauthenticatedSocketsMax: 1_000,
  unauthenticatedSocketsPerAddressMax: 250,
  unauthenticatedMsMax: 5_000,
  unauthenticatedBytesMax: 16_384,
  socketClosingMsMax: 1_000,
  operationsPerSocketMax: 50,
  subscriptionQueueMax: 10_000,
  keyCheckMs: 5_000,
  socketBacklogBytesMax: 8_388_608,
  agentRequestsMax: 1_000,
  agentNotificationMs: 1_000,
  agentKeepAliveMs: 20_000,
};
