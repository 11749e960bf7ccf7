/**
 * Finds the policy of a tool. An exact name beats any prefix, a longer prefix a shorter one; a tool
 * without a policy gets the cautious default.
 */
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

/** Policies of the hub's own tools: showing a banner twice has the effect of once. */
const hubToolPolicies: readonly ToolPolicy[] = [alertTool, identifyTool].map(({ name }) => ({
  ...defaultToolPolicy,
  pattern: name,
  idempotent: true,
}));

/** The operator's policies and those of hub tools that they do not name; sorted by pattern. */
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
