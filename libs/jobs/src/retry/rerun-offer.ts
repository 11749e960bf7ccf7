/** Which failures of a finished job are worth another try. */
import type { CallErrorCode } from '@flotilla/mcp';

/** How many failed targets have an error code; undefined for those without one. */
export interface FailureCodeCount {
  readonly code: string | undefined;
  readonly count: number;
}

export interface RerunOffer {
  /** Failed targets that may succeed when they are called again. */
  readonly count: number;
  /** Failed targets that would fail again in the same way. */
  readonly leftOutCount: number;
  /** The error codes of the targets that are left out. */
  readonly exceptCodes: readonly string[];
}

/**
 * The same call to the same device fails again with these. Missing rights are not among them,
 * because another person may have them.
 */
const repeatingCodes: readonly CallErrorCode[] = [
  'TOOL_UNKNOWN',
  'TOOL_GONE',
  'ARGUMENTS_INVALID',
  'REQUEST_TOO_LARGE',
  'IMAGE_WITHDRAWN',
  'WRONG_BOARD',
  'WRONG_CHIP',
  'NO_OTA_PARTITION',
  'IMAGE_DOES_NOT_FIT',
];

export function rerunOffer(failures: readonly FailureCodeCount[]): RerunOffer {
  const sum = (some: readonly FailureCodeCount[]) => some.reduce((total, { count }) => total + count, 0);
  const repeating = failures.filter(({ code }) => (repeatingCodes as readonly unknown[]).includes(code));
  const leftOutCount = sum(repeating);
  return {
    count: sum(failures) - leftOutCount,
    leftOutCount,
    exceptCodes: repeating.flatMap(({ code }) => code ?? []),
  };
}
