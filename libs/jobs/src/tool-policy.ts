/** Finds what an operator says about a tool. An exact name beats every prefix, a longer prefix a shorter one; nothing said means the cautious default. */
import type { ToolPolicy } from './job-types.js';

export const defaultToolPolicy: ToolPolicy = {
  pattern: '*',
  idempotent: false,
  disruptive: false,
  disconnectExpected: false,
  verification: 'NONE',
  readback: undefined,
  failureText: undefined,
  callTimeoutMs: 60_000,
};

export function findToolPolicy(policies: readonly ToolPolicy[], tool: string): ToolPolicy {
  let best = defaultToolPolicy;
  for (const policy of policies) {
    if (policy.pattern === tool) return policy;
    if (isPrefixOf(policy.pattern, tool) && policy.pattern.length >= best.pattern.length) best = policy;
  }
  return best;
}

function isPrefixOf(pattern: string, tool: string): boolean {
  return pattern.endsWith('*') && tool.startsWith(pattern.slice(0, -1));
}
