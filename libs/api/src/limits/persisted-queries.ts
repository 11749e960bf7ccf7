/**
 * The documents that may run, and those that callers name by hash. `extensions.persistedQuery` is
 * the protocol of automatic persisted queries: a client sends the hash first, and the hash with the
 * document if the hub does not know it.
 */
import { createHash } from 'node:crypto';
import { isJsonObject } from '@flotilla/mcp';
import type { Principal } from '@flotilla/registry';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors/api-error.js';
import type { ApiLimits } from './api-limits.js';

/** What a request says of its document, from the network. */
export interface NamedQuery {
  readonly query?: unknown;
  readonly extensions?: unknown;
}

type PersistedQueryLimits = Pick<ApiLimits, 'persistedQueriesMax' | 'persistedQueryLengthMax'>;

export class PersistedQueries {
  readonly #limits: PersistedQueryLimits;
  readonly #listed: ReadonlyMap<string, string> | undefined;
  /** By hash. */
  readonly #registered: LRUCache<string, string>;

  /** With `listed` keys run these documents and no others. */
  constructor(limits: PersistedQueryLimits, listed?: readonly string[]) {
    this.#limits = limits;
    this.#registered = new LRUCache({ max: limits.persistedQueriesMax });
    this.#listed = listed && new Map(listed.map((document) => [hashOf(document), document]));
  }

  /**
   * The document to run; undefined without one. People use the console, which has its own
   * documents.
   */
  documentOf(request: NamedQuery, viewer: Pick<Principal, 'kind'>): string | undefined {
    const query = typeof request.query === 'string' && request.query !== '' ? request.query : undefined;
    const hash = hashIn(request.extensions);
    if (this.#listed !== undefined && viewer.kind === 'KEY') return this.#listedDocument(this.#listed, query, hash);
    if (hash === undefined) return query;
    return query === undefined ? this.#recall(hash) : this.#register(hash, query);
  }

  #listedDocument(
    listed: ReadonlyMap<string, string>,
    query: string | undefined,
    named: string | undefined,
  ): string | undefined {
    if (query === undefined && named === undefined) return undefined;
    if (query !== undefined && named !== undefined) refuseMismatch(named, query);
    const document = listed.get(named ?? hashOf(query ?? ''));
    if (document === undefined) {
      throw new ApiError(
        'QUERY_NOT_LISTED',
        'This hub runs only the documents of its list (FLOTILLA_QUERIES), and this one is not in it.',
      );
    }
    return document;
  }

  #recall(hash: string): string {
    const query = this.#registered.get(hash);
    if (query === undefined) throw new ApiError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
    return query;
  }

  /** A document that is too long for the cache runs, and must be sent again the next time. */
  #register(hash: string, query: string): string {
    refuseMismatch(hash, query);
    if (query.length <= this.#limits.persistedQueryLengthMax) this.#registered.set(hash, query);
    return query;
  }
}

function refuseMismatch(hash: string, query: string): void {
  if (hashOf(query) !== hash)
    throw new ApiError(
      'BAD_USER_INPUT',
      '"extensions.persistedQuery.sha256Hash" is not the SHA-256 of "query" in hexadecimal.',
    );
}

function hashOf(query: string): string {
  return createHash('sha256').update(query, 'utf8').digest('hex');
}

/** The hash that a request names; undefined where it names none. */
function hashIn(extensions: unknown): string | undefined {
  const named = isJsonObject(extensions) ? extensions['persistedQuery'] : undefined;
  if (named === undefined || named === null) return undefined;
  const hash = isJsonObject(named) ? named['sha256Hash'] : undefined;
  if (!isJsonObject(named) || named['version'] !== 1 || typeof hash !== 'string' || !/^[\da-f]{64}$/i.test(hash))
    throw new ApiError(
      'BAD_USER_INPUT',
      '"extensions.persistedQuery" must have "version": 1 and "sha256Hash", 64 hexadecimal digits.',
    );
  return hash.toLowerCase();
}
