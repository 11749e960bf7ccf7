/**
 * Changes tool policies. They apply to new calls and jobs in every process; existing jobs keep
 * their policy.
 */
import type { Bus } from '@flotilla/bus';
import { findToolPolicy, withHubTools } from '@flotilla/jobs';
import type { ToolPolicy } from '@flotilla/jobs';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { requestHash } from '../idempotency/request-hash.js';
import type { PolicyCache } from './policy-cache.js';
import { changedMeanwhile, refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { refusePolicy } from './policy-request.js';

interface SetToolPolicyDeps {
  readonly registry: Pick<Registry, 'toolPolicies'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
  readonly policies: PolicyCache;
}

/** Policies of one hub: all are looked at for a tool that is not named exactly. */
const policiesMax = 1_000;

/** The expected revision of a policy that must not exist yet. */
const NO_REVISION = '';

/** Without an expected revision it replaces any policy of the pattern. */
export async function setToolPolicy(
  deps: SetToolPolicyDeps,
  policy: ToolPolicy,
  actor: Actor,
  expectedRevision?: string,
): Promise<{ readonly toolPolicy: ToolPolicy } | { readonly refusal: Refusal }> {
  const refusal = refusePolicy(policy, ['input']) ?? (await refuseRead(deps, policy));
  if (refusal !== undefined) return { refusal };
  const { registry, clock } = deps;
  const isExpected = (stored: readonly ToolPolicy[]) => {
    const former = withHubTools(stored).find(({ pattern }) => pattern === policy.pattern);
    return (former === undefined ? NO_REVISION : policyRevision(former)) === expectedRevision;
  };
  const answer = await registry.toolPolicies.set(policy, {
    policiesMax,
    at: clock.now(),
    by: sourceOf(actor),
    isExpected: expectedRevision === undefined ? undefined : isExpected,
  });
  if (answer === 'OTHER_REVISION')
    return { refusal: expectedRevision === NO_REVISION ? patternTaken : changedMeanwhile('policy') };
  if (answer === 'FULL') {
    return {
      refusal: refuse(
        'LIMIT_EXCEEDED',
        ['input', 'pattern'],
        `There are ${policiesMax} policies; use prefixes instead.`,
      ),
    };
  }
  announce(deps, policy.pattern);
  return { toolPolicy: policy };
}

const patternTaken = refuse(
  'CONFLICT',
  ['input', 'pattern'],
  'There is a policy for this pattern already. Edit that one, or choose another pattern.',
);

/** Another one after each change of the policy; also for those that the hub adds. */
export function policyRevision(policy: ToolPolicy): string {
  return requestHash(policy);
}

/** The hub calls the readback tool repeatedly and without approval. */
async function refuseRead({ registry }: SetToolPolicyDeps, policy: ToolPolicy): Promise<Refusal | undefined> {
  const { pattern, readback } = policy;
  if (readback === undefined) return undefined;
  const others = (await registry.toolPolicies.all()).filter((other) => other.pattern !== pattern);
  if (!findToolPolicy([...others, policy], readback.tool).disruptive) return undefined;
  return refuse(
    'INVALID',
    ['input', 'readback', 'tool'],
    `"${readback.tool}" disrupts its device: name a tool that only reads.`,
  );
}

/** What the pattern said no longer holds; a shorter prefix or the cautious default does. */
export async function deleteToolPolicy(
  deps: SetToolPolicyDeps,
  pattern: string,
  actor: Actor,
): Promise<{ readonly pattern: string } | { readonly refusal: Refusal }> {
  const { registry, clock } = deps;
  if (!(await registry.toolPolicies.remove(pattern, { at: clock.now(), by: sourceOf(actor) }))) {
    return { refusal: refuse('NOT_FOUND', ['pattern'], `There is no policy "${pattern}".`) };
  }
  announce(deps, pattern);
  return { pattern };
}

/** This process follows before it answers, the others when they hear of it. */
function announce({ bus, policies }: SetToolPolicyDeps, pattern: string): void {
  policies.forget();
  bus.feed.publish('policy', { pattern });
}
