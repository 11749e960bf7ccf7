/** Every limit of the API with its unit and reason. Deployments may change them; tests make them small. */

export interface ApiLimits {
  /** Bytes of an HTTP body or a WebSocket message. A job's filter with 1,000 ids and its arguments fit many times over. */
  readonly requestBytesMax: number;
  /** Tokens of a query's text: parsing is paid before anything is known of the query. */
  readonly queryTokensMax: number;
  /** Nesting of fields. The deepest useful path, job to target to device to tool to policy, has 9. */
  readonly queryDepthMax: number;
  /** Nesting of brackets of any kind in a query's text: fields with inline fragments twice, an argument, and JSON in it. */
  readonly queryBracketsMax: number;
  /** Fields renamed with an alias in one query: each may be a whole list again. */
  readonly queryAliasesMax: number;
  /** Directives in one query: each is looked at again for each object. */
  readonly queryDirectivesMax: number;
  /** Mutations in one operation: each holds a place while a device or a worker does its part. */
  readonly operationMutationsMax: number;
  /** Points of one operation (operation-cost.ts): about the number of objects it may return, and more for what reads more than it shows. */
  readonly queryCostMax: number;
  /** Ms that a query may take: longer than the page of a fleet takes by far, and shorter than proxies wait. */
  readonly operationMsMax: number;
  /** Points that one key or person may spend in a second: fifty of the dearest operations, or some 10,000 calls. */
  readonly costPerSecondMax: number;
  /** Points of a request to `/mcp` or below `/api/`, whatever it does. */
  readonly requestCost: number;
  /** Documents that are kept by their hash, the latest ones, for all keys together. */
  readonly persistedQueriesMax: number;
  /** Characters of a document that is kept by its hash; one of an application has some hundred. */
  readonly persistedQueryLengthMax: number;
  /** Rows of one page. */
  readonly pageRowsMax: number;
  /** WebSocket connections of this process with a valid key or session; each keeps a key and its operations in memory. */
  readonly socketsMax: number;
  /** WebSocket connections that have sent no valid connection_init yet. They have places of their own, so that they take none from those above. */
  readonly unauthenticatedSocketsMax: number;
  /** Of these, those of one address (IPv6: one /64): some hundred clients of an office connect again at once after a restart. */
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
   * Changes that wait for one slow subscriber; past it the oldest changes of devices are dropped and counted, and a subscription to events ends with TOO_SLOW. Several times what
   * one commit of the event writer brings at once, so that a burst ends nobody who keeps up; what waits is shared by all subscribers.
   */
  readonly subscriptionQueueMax: number;
  /** Ms between two looks at the key of an open WebSocket: one that is revoked or expired ends its subscriptions by then. */
  readonly keyCheckMs: number;
  /** Bytes that wait for one slow socket before it is closed. */
  readonly socketBacklogBytesMax: number;
  /** Requests of agents that this process answers at a time, open streams among them; each keeps a server of the MCP SDK in memory. */
  readonly agentRequestsMax: number;
  /** Ms that changes of the fleet are gathered before agents hear of them: each of them asks for the whole list then. */
  readonly agentNotificationMs: number;
  /** Ms between signs of life on an agent's stream: less than the minute after which proxies cut. */
  readonly agentKeepAliveMs: number;
}

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
  pageRowsMax: 200,
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
