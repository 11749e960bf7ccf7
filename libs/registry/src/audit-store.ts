import type { Page, PageRequest } from './page.js';

/** On whose behalf something is changed, as the audit trail shows it. */
export interface AuditSource {
  /** Key name, user, or `hub` for what the hub does by itself. */
  readonly actor: string;
  /** Address that the request came from; undefined where no request did. */
  readonly remoteAddress?: string | undefined;
}

/** What is to be recorded. `data` is masked and bounded on its way in: whoever records need not think of secrets in arguments. */
export interface NewAuditEntry extends AuditSource {
  /** What was done, such as `job.paused`, `call.privileged`, `policy.set`. */
  readonly action: string;
  /** To what: `job:<id>`, `device:<id>`, `policy:<pattern>`. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

export interface AuditEntryRow {
  readonly id: string;
  /** 1, 2, 3 … without gaps, in the order of commits. */
  readonly sequence: number;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly remoteAddress: string | undefined;
  /** Lower-case hex, over the entry and the hash before it: HMAC-SHA256 with the key that `keyId` names, SHA-256 where there is none. */
  readonly hash: string;
  readonly keyId: string | undefined;
}

export interface AuditFilter {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly since?: number;
  readonly until?: number;
}

export type AuditOrder = 'LATEST_FIRST' | 'EARLIEST_FIRST';

export type AuditVerdict =
  /** From `first` to `last`, whose hash is the one to keep elsewhere. */
  | {
      readonly kind: 'intact';
      readonly entries: number;
      readonly first: number;
      readonly last: number;
      readonly hash: string;
      /** The first entry with the key; undefined where none was asked for. Those before it are covered by that one's hash. */
      readonly keyedFrom: number | undefined;
      /** Entries before it that were made with another key: their own hashes could not be computed. */
      readonly unchecked: number;
    }
  | { readonly kind: 'broken'; readonly sequence: number; readonly reason: AuditFault };

/**
 * The first entry that is not what the chain says: changed, those before it are gone and not by the hub's retention, without a key where it must have one, or
 * made with another one.
 */
export type AuditFault = 'CHANGED' | 'MISSING' | 'UNKEYED' | 'OTHER_KEY';

/** Who changed what: append only, and chained so that a later change of it shows. */
export interface AuditStore {
  /**
   * Records what is not a transaction of this registry. Resolves when committed (group commit); waits while PostgreSQL is away. Rejects with OVERLOADED
   * when full, and never drops an entry that it took.
   */
  record(entry: NewAuditEntry): Promise<void>;
  /** While true nothing should be begun that must be recorded. */
  readonly isOverloaded: boolean;
  /** Latest first unless `order` says otherwise; a cursor belongs to its order. */
  page(filter: AuditFilter, page: PageRequest, order?: AuditOrder): Promise<Page<AuditEntryRow>>;
  /** Reads the whole chain, from where retention has cut it, and computes it anew, page by page. */
  verify(): Promise<AuditVerdict>;
}
