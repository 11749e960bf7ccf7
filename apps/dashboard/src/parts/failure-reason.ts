/** Why a list or page could not be read, as a text of the catalogues. */
import type { CombinedError } from 'urql';

type FailureReason = 'forbidden' | 'unavailable' | 'badAddress' | 'unreachable' | 'other';

const reasons: ReadonlyMap<unknown, FailureReason> = new Map<unknown, FailureReason>([
  ['FORBIDDEN', 'forbidden'],
  ['UNAVAILABLE', 'unavailable'],
  // Pages make their requests themselves, so a wrong value comes from the address.
  ['BAD_USER_INPUT', 'badAddress'],
]);

type ReadError = Pick<CombinedError, 'graphQLErrors' | 'networkError'>;

export function reasonOf({ graphQLErrors, networkError }: ReadError): FailureReason {
  const known = reasons.get(graphQLErrors[0]?.extensions['code']);
  return known ?? (networkError ? 'unreachable' : 'other');
}

/** The sentences of the hub, which are English: only where they say more than the reason. */
export function detailsOf(error: ReadError): readonly string[] {
  const reason = reasonOf(error);
  return reason === 'forbidden' || reason === 'other' ? error.graphQLErrors.map(({ message }) => message) : [];
}

/** Codes that say everything. The sentences of others name values, which only the hub knows. */
const translatedCodes = ['DEVICE_OFFLINE', 'OVERLOADED', 'UNAVAILABLE', 'RATE_LIMITED', 'LARGE_MESSAGES_LOST'] as const;

/** The code if the catalogues have a sentence for it, in place of the English one of the hub. */
export function translatedCodeOf(code: string | null | undefined): (typeof translatedCodes)[number] | undefined {
  return translatedCodes.find((known) => known === code);
}

/** Codes whose kind a reader of another language than the hub's should know before its sentence. */
const kinds = [
  'FORBIDDEN',
  'NOT_FOUND',
  'INVALID',
  'CONFLICT',
  'IDEMPOTENCY_KEY_REUSED',
  'LIMIT_EXCEEDED',
  'APPROVAL_REQUIRED',
  'TOOL_UNKNOWN',
  'TOOL_FORBIDDEN',
  'TOOL_GONE',
  'URL_FORBIDDEN',
  'ARGUMENTS_INVALID',
  'REQUEST_TOO_LARGE',
  'IMAGE_WITHDRAWN',
  'WRONG_BOARD',
  'WRONG_CHIP',
  'NO_OTA_PARTITION',
  'IMAGE_DOES_NOT_FIT',
  'ALREADY_CURRENT',
  'DOWNLOADS_IN_VAIN',
  'DEVICE_ERROR',
  'MALFORMED_REPLY',
  'TIMEOUT',
  'SESSION_CLOSED',
  'HUB_RESTARTED',
  'GATEWAY_UNREACHABLE',
  'LARGE_MESSAGES_LOST',
  'READBACK_DIFFERS',
  'DID_NOT_RESTART',
  'NOT_APPLIED_OR_ROLLED_BACK',
  'UPDATE_DID_NOT_START_OR_FAILED',
  'LOST_AFTER_RESTART',
  'LOST_AFTER_UPDATE',
  'NOT_VERIFIED',
  'INTERNAL',
] as const;

export function kindOf(code: string | null | undefined): (typeof kinds)[number] | undefined {
  return kinds.find((known) => known === code);
}

/** Said before the sentence of the hub. Kinds first: with some codes a call may have run or not. */
export function beforeHubWords(code: string | null | undefined) {
  const [kind, whole] = [kindOf(code), translatedCodeOf(code)];
  if (kind) return `failure.kinds.${kind}` as const;
  return whole && (`failure.codes.${whole}` as const);
}
