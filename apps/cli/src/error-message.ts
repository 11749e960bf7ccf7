/** Errors of files and libraries, as users see them. */
import { UsageError } from './exit-codes.js';

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A usage error stays as it is. */
export function unreadable(file: string, error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  return new UsageError(`${file} cannot be read: ${messageOf(error)}. Check its name.`);
}
