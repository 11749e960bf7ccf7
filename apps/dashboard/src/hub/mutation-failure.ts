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

/** The hub may fail after the change. UNKNOWN is the outcome of a call that may have run. */
const uncertainCodes: ReadonlySet<string> = new Set(['INTERNAL', 'UNAVAILABLE', 'UNKNOWN']);

/** Without a refusal there was no answer. */
export function failureOf(refusals: readonly Refusal[]): MutationFailure {
  return {
    messages: refusals.map(({ message }) => message),
    codes: refusals.map(({ code }) => code),
    isUncertain: refusals.length === 0 || refusals.some(({ code }) => uncertainCodes.has(code)),
  };
}
