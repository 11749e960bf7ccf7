/**
 * Entries of the audit trail: who changed what. They are chained, so that a later change of one
 * shows.
 */
import type { AuditEntry } from '../generated/prisma/client.js';
import { plainRow } from '../database/plain-row.js';

/** The caller for whom something is changed, as the audit trail shows it. */
export interface AuditSource {
  /** The name of a key or user, or `hub` for changes by the hub itself. */
  readonly actor: string;
  /** The address of the request; undefined where there was no request. */
  readonly remoteAddress?: string | undefined;
}

/** When a change is made, in ms since the Unix epoch, and by whom. */
export interface ChangeOrigin {
  readonly at: number;
  readonly by: AuditSource;
}

/** An entry to record. Secrets in `data` are masked and its size is bounded on the way in. */
export interface NewAuditEntry extends AuditSource {
  /** Such as `job.paused`, `call.privileged`, `policy.set`. */
  readonly action: string;
  /** What was changed: `job:<id>`, `device:<id>`, `policy:<pattern>`. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A change to record, without its caller. */
export type AuditedChange = Omit<NewAuditEntry, keyof AuditSource>;

export interface AuditEntryRow extends Required<NewAuditEntry> {
  readonly id: string;
  /** 1, 2, 3 … without gaps, in the order of commits. */
  readonly sequence: number;
  /**
   * Lower-case hex over the entry and the hash before it: HMAC-SHA256 with the key that `keyId`
   * names, or SHA-256 without a key.
   */
  readonly hash: string;
  readonly keyId: string | undefined;
}

export function toAuditEntry(record: AuditEntry): AuditEntryRow {
  const { data, ...row } = plainRow(record);
  return { ...row, data: data as AuditEntryRow['data'] };
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
  /** From `first` to `last`. Keep the hash of the last one elsewhere. */
  | {
      readonly kind: 'intact';
      readonly entries: number;
      readonly first: number;
      readonly last: number;
      readonly hash: string;
      /**
       * The first entry with the key, whose hash covers those before it; undefined without a key.
       */
      readonly keyedFrom: number | undefined;
      /** Earlier entries with another key, whose own hashes could not be computed. */
      readonly unchecked: number;
    }
  | { readonly kind: 'broken'; readonly sequence: number; readonly reason: AuditFault };

/**
 * What is wrong with the first broken entry: changed, entries before it are missing (not removed by
 * retention), made without the key of the chain, or made with another key.
 */
export type AuditFault = 'CHANGED' | 'MISSING' | 'UNKEYED' | 'OTHER_KEY';
