/**
 * Idempotency keys of attempts, kept in this browser tab until one succeeds: pressing again after a
 * lost answer, also after a reload, creates nothing twice. Another content has another key.
 */
import { newIdempotencyKey } from './idempotency-key';

export type AttemptStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const prefix = 'flotilla.attempt.';
/** Ms. The same request is a new one an hour after the first attempt. */
const attemptMsMax = 3_600_000;

interface Attempt {
  /** Ms since the Unix epoch. */
  readonly at: number;
  readonly key: string;
}

/** `name` is what is attempted, such as `rerun` with the id of a job. `content` is what is sent. */
export function attemptKey(storage: AttemptStorage, name: string, content: unknown, now = Date.now()): string {
  const stored = readAttempt(storage, name);
  const attempt = stored && now - stored.at < attemptMsMax ? stored : { at: now, key: newIdempotencyKey() };
  try {
    storage.setItem(prefix + name, JSON.stringify(attempt));
  } catch {
    // A full storage: the request is sent anyway.
  }
  return `${attempt.key}-${fingerprint(JSON.stringify(content))}`;
}

/** Once it succeeded: the next one is another. */
export function endAttempt(storage: AttemptStorage, name: string): void {
  storage.removeItem(prefix + name);
}

function readAttempt(storage: AttemptStorage, name: string): Attempt | undefined {
  try {
    const stored = JSON.parse(storage.getItem(prefix + name) ?? 'null') as Partial<Attempt> | null;
    return typeof stored?.key === 'string' && typeof stored.at === 'number' ? (stored as Attempt) : undefined;
  } catch {
    return undefined;
  }
}

/** FNV-1a. Two contents with one fingerprint do no harm: the hub refuses the second. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16);
}
