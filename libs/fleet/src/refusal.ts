/** Expected refusals: data for whoever asked, never thrown. */
import type { NotSentCode } from '@flotilla/mcp';

export type RefusalCode = NotSentCode | 'NOT_FOUND' | 'INVALID' | 'CONFLICT' | 'IDEMPOTENCY_KEY_REUSED' | 'LIMIT_EXCEEDED';

/** `path` names the input that it is about, from the operation's argument on. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  readonly path: readonly string[];
}

export function refuse(code: RefusalCode, path: readonly string[], message: string): Refusal {
  return { code, message, path };
}
