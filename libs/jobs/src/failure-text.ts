/** Some tools say in words that they failed: their policy names the text, and an answer of exactly that text is a failure, for calls and jobs alike. */
import type { CallOutcome, ToolResult } from '@flotilla/mcp';

/** The outcome with the policy's success predicate applied; itself where the predicate says nothing. */
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
