/** Why a call did not do its work, like the refusals of a change. */
import type { Refusal } from '../../hub/mutation-failure';

interface CallToolPayload {
  readonly call: { readonly outcome: string | null; readonly error: Refusal | null } | null;
  readonly userErrors: readonly Refusal[];
}

/** Of an unknown outcome the code is UNKNOWN and not its cause: the device may have done it. */
export function callFailures({ callTool: { call, userErrors } }: { readonly callTool: CallToolPayload }) {
  if (call === null) return userErrors;
  if (call.outcome === 'SUCCEEDED') return [];
  const outcome = call.outcome ?? 'UNKNOWN';
  const { code, message } = call.error ?? { code: outcome, message: outcome };
  return [{ code: outcome === 'UNKNOWN' ? outcome : code, message }];
}
