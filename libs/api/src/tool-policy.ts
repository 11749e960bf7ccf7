/** Which policy speaks for a tool: the longest pattern that fits its name. */
import type { ToolPolicy } from '@flotilla/jobs';

/** For a tool that no pattern fits: nothing is known, so nothing is promised. */
const unknownTool: Omit<ToolPolicy, 'pattern'> = {
  idempotent: false,
  disruptive: false,
  disconnectExpected: false,
  verification: 'NONE',
  readback: undefined,
  failureText: undefined,
  callTimeoutMs: 60_000,
};

export function policyOf(tool: string, policies: readonly ToolPolicy[]): ToolPolicy {
  return policies.filter(({ pattern }) => fits(pattern, tool)).reduce(longer, { ...unknownTool, pattern: '*' });
}

function fits(pattern: string, tool: string): boolean {
  return pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern;
}

/** An exact name wins over a prefix of the same length. */
function longer(best: ToolPolicy, next: ToolPolicy): ToolPolicy {
  const lengthOf = ({ pattern }: ToolPolicy): number => (pattern.endsWith('*') ? pattern.length - 1 : pattern.length + 0.5);
  return lengthOf(next) >= lengthOf(best) ? next : best;
}
