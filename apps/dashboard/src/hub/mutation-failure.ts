/** Why a change was not made, or why it is unknown whether it was. */

export interface MutationFailure {
  /** In the hub's words. */
  readonly messages: readonly string[];
  readonly codes: readonly string[];
  /** No answer came, or the hub failed while it worked: it may have done it or not. */
  readonly isUncertain: boolean;
}

/** Of the payload, or of a GraphQL error. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** The hub may fail after the change, for example while it reads what it answers with. */
const faultCodes: ReadonlySet<string> = new Set(['INTERNAL', 'UNAVAILABLE']);

/** Of errors in place of a payload. Without an error there was no answer. */
export function failureOf(errors: readonly Refusal[]): MutationFailure {
  return withMessages(errors, errors.length === 0 || errors.some(({ code }) => faultCodes.has(code)));
}

/** Of a payload. UNAVAILABLE says there that nothing was sent, UNKNOWN that a call may have run. */
export function refusalOf(refusals: readonly Refusal[]): MutationFailure {
  return withMessages(
    refusals,
    refusals.some(({ code }) => code === 'UNKNOWN'),
  );
}

function withMessages(refusals: readonly Refusal[], isUncertain: boolean): MutationFailure {
  return { messages: refusals.map(({ message }) => message), codes: refusals.map(({ code }) => code), isUncertain };
}
