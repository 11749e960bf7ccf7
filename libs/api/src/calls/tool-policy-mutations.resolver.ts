import { Inject } from '@nestjs/common';
import { Mutation, Resolver } from '@nestjs/graphql';
import type { Readback, ToolPolicy } from '@flotilla/jobs';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET } from '../api-deps.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  MutationDeleteToolPolicyArgs,
  MutationSetToolPolicyArgs,
  ReadbackInput,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** What operators say of tools. */
@Resolver()
export class ToolPolicyMutationsResolver implements Serves<'Mutation', 'setToolPolicy' | 'deleteToolPolicy'> {
  constructor(@Inject(FLEET) private readonly fleet: FleetOperations) {}

  /** Treats null like a missing member. */
  @Mutation()
  async setToolPolicy(_root: unknown, { input, expectedRevision }: MutationSetToolPolicyArgs, context: ApiContext) {
    const { pattern, idempotent, disruptive } = input;
    const policy: ToolPolicy = {
      pattern,
      idempotent,
      disruptive,
      readOnly: input.readOnly ?? undefined,
      disconnectExpected: input.disconnectExpected ?? false,
      verification: input.verification ?? 'NONE',
      readback: input.readback ? readbackOf(input.readback) : undefined,
      failureText: input.failureText ?? undefined,
      callTimeoutMs: input.callTimeoutMs ?? 60_000,
    };
    const answer = await this.fleet.setToolPolicy(policy, actorOf(context), expectedRevision ?? undefined);
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { toolPolicy: answer.toolPolicy, userErrors: [] };
  }

  @Mutation()
  async deleteToolPolicy(_root: unknown, { pattern }: MutationDeleteToolPolicyArgs, context: ApiContext) {
    const answer = await this.fleet.deleteToolPolicy(pattern, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { pattern: answer.pattern, userErrors: [] };
  }
}

/** Members that are left out keep what was the rule before they existed. */
function readbackOf({ tolerance, settleMs, ...own }: ReadbackInput): Readback {
  return {
    ...own,
    ...(typeof tolerance === 'number' && { tolerance }),
    ...(typeof settleMs === 'number' && { settleMs }),
  };
}
