/** What the form of a tool policy sends, and how it reads values back. */
import type { PoliciesQuery, ToolPolicyInput } from './generated/settings';

export type Policy = PoliciesQuery['toolPolicies'][number];
type Readback = NonNullable<Policy['readback']>;

/** As the hub has it where a policy says nothing. */
export const usualReading = { tolerance: 0, settleMs: 600 };

/** What the form begins with. Its path and its argument must be entered. */
export const emptyReadback: Readback = { tool: 'self.get_device_status', path: '', argument: '', ...usualReading };

/**
 * Without what the cache adds to its objects. Only the verification READBACK needs a readback, so
 * with another one an empty one is left out: the hub would refuse it.
 */
export function inputOf({ readback, ...known }: Policy): ToolPolicyInput {
  const { pattern, idempotent, disruptive, readOnly, disconnectExpected, verification, failureText, callTimeoutMs } =
    known;
  const isLeftOut = readback === null || (verification !== 'READBACK' && isEmpty(readback));
  return {
    pattern: pattern.trim(),
    idempotent,
    disruptive,
    readOnly,
    disconnectExpected,
    verification,
    failureText,
    callTimeoutMs,
    readback: isLeftOut ? null : readingInput(readback),
  };
}

/** Whether nothing was entered: what was typed is not left out in silence. */
function isEmpty({ tool, path, argument }: Readback): boolean {
  return path.trim() === '' && argument.trim() === '' && ['', emptyReadback.tool].includes(tool.trim());
}

function readingInput({ tool, path, argument, tolerance, settleMs }: Readback) {
  return { tool, path, argument, tolerance, settleMs };
}
