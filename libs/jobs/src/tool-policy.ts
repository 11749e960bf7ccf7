/** Finds what an operator says about a tool. An exact name beats every prefix, a longer prefix a shorter one; nothing said means the cautious default. */
import { alertTool, identifyTool } from '@flotilla/mcp';
import type { ToolPolicy } from './job-types.js';

export const defaultToolPolicy: ToolPolicy = {
  pattern: '*',
  idempotent: false,
  disruptive: false,
  readOnly: undefined,
  disconnectExpected: false,
  verification: 'NONE',
  readback: undefined,
  failureText: undefined,
  callTimeoutMs: 60_000,
};

/** What is known of the hub's own tools. A banner shown again leaves what one showing leaves, so a call that may have been lost is sent again. */
const hubToolPolicies: readonly ToolPolicy[] = [alertTool, identifyTool].map(({ name }) => ({
  ...defaultToolPolicy,
  pattern: name,
  idempotent: true,
}));

/** The operator's policies with those of the hub's own tools, of which the operator has not said anything by name; by pattern. */
export function withHubTools(policies: readonly ToolPolicy[]): readonly ToolPolicy[] {
  const added = hubToolPolicies.filter(({ pattern }) => !policies.some((policy) => policy.pattern === pattern));
  return [...policies, ...added].sort((one, other) => (one.pattern < other.pattern ? -1 : 1));
}

export function findToolPolicy(policies: readonly ToolPolicy[], tool: string): ToolPolicy {
  let best = defaultToolPolicy;
  for (const policy of [...policies, ...hubToolPolicies]) {
    if (policy.pattern === tool) return policy;
    if (isPrefixOf(policy.pattern, tool) && policy.pattern.length >= best.pattern.length) best = policy;
  }
  return best;
}

function isPrefixOf(pattern: string, tool: string): boolean {
  return pattern.endsWith('*') && tool.startsWith(pattern.slice(0, -1));
}
