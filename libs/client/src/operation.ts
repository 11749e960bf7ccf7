/** What runs an operation of the API: a document with its types, or its text. */
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { RequestOptions } from './client-options.js';
import type { SubscriptionOptions } from './transport/subscriptions.js';

/**
 * Generated documents have types; text takes them: `client.request<Data>('{ viewer { name } }')`.
 */
export type Operation<Data, Variables> = TypedDocumentNode<Data, Variables> | string;

/** Variables may be left out where the operation needs none. */
export type Given<Variables, Options> =
  Record<string, never> extends Variables
    ? readonly [variables?: Variables, options?: Options]
    : readonly [variables: Variables, options?: Options];

/** The part of FlotillaClient that the functions in fleet/ use. */
export interface OperationSender {
  request<Data, Variables extends object = Record<string, unknown>>(
    document: Operation<Data, Variables>,
    ...given: Given<Variables, RequestOptions>
  ): Promise<Data>;
  subscribe<Data, Variables extends object = Record<string, unknown>>(
    document: Operation<Data, Variables>,
    ...given: Given<Variables, SubscriptionOptions>
  ): AsyncGenerator<Data, void, void>;
}
