/** What `flotilla apply` wrote last for one thing. It decides nothing in the hub. */

export interface AppliedConfigurationRow {
  readonly kind: string;
  readonly name: string;
  /** As in the file, with references or masks in place of secrets. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Grows with each record. */
  readonly revision: number;
  readonly appliedBy: string;
  /** Milliseconds since the Unix epoch. */
  readonly appliedAt: number;
}

export interface AppliedRecord {
  readonly kind: string;
  readonly name: string;
  /** Undefined removes the entry. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  /** The one that the caller has read; undefined if there was no entry. */
  readonly revision: number | undefined;
}

export type AppliedAnswer =
  | { readonly kind: 'recorded'; readonly rows: readonly AppliedConfigurationRow[] }
  /** The entry at this place of the request has another revision now. Nothing was recorded. */
  | { readonly kind: 'CONFLICT'; readonly index: number }
  | { readonly kind: 'FULL' };
