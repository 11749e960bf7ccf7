/**
 * Some tools report failure as text: an answer of exactly the text in their policy is a failure.
 */
import type { CallOutcome, ToolResult } from '@flotilla/mcp';

/** The outcome, or a failure where its result is the failure text. */
export function applyFailureText(outcome: CallOutcome, failureText: string | undefined): CallOutcome {
  if (failureText === undefined || outcome.kind !== 'SUCCEEDED' || outcome.result === undefined) return outcome;
  if (textOf(outcome.result) !== failureText) return outcome;
  const message = `The tool answered "${failureText}", which its policy counts as a failure.`;
  return { ...outcome, kind: 'FAILED', error: { code: 'DEVICE_ERROR', message } };
}

function textOf(result: ToolResult): string {
  return result.content
    .flatMap((item) => (item.type === 'text' && typeof item['text'] === 'string' ? [item['text']] : []))
    .join('\n');
}
