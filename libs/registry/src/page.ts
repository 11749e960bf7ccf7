/** Keyset pagination, the same for every list. */

/** `first` rows after the opaque cursor `after` (from an earlier page). */
export interface PageRequest {
  readonly first: number;
  readonly after?: string;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** One per row. */
  readonly cursors: readonly string[];
  readonly hasNextPage: boolean;
}
