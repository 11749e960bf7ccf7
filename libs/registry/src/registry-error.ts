/**
 * The one error class of this lib. A code says which rule broke; `cause` keeps what the driver or
 * the system said.
 */

type RegistryErrorCode =
  /** PostgreSQL cannot be reached, or went away in the middle. */
  | 'DATABASE_UNAVAILABLE'
  /** PostgreSQL refused the statement or its data. */
  | 'DATABASE_REFUSED'
  /** The server is older than what the migrations need. */
  | 'DATABASE_TOO_OLD'
  | 'MIGRATION_FAILED'
  /** The embedded server could not be made, started or stopped. */
  | 'EMBEDDED_SERVER_FAILED'
  /** Another hub process works on this data folder. */
  | 'DATA_DIR_IN_USE'
  /** A bounded writer is full. */
  | 'OVERLOADED'
  /** A cursor, id or page size that this registry never gave out. */
  | 'ARGUMENT_INVALID'
  /** A backup that does not fit this version, or a database that has data. */
  | 'RESTORE_REFUSED'
  /** Used after close, or before what it needs. */
  | 'CLOSED';

export class RegistryError extends Error {
  constructor(
    readonly code: RegistryErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = 'RegistryError';
  }
}

/** The message of a thrown value. An AggregateError of Node has no message itself. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
