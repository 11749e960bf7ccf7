/** What an owner asks of a desired state, and what is refused. */
import type { Readback, ToolPolicy } from '@flotilla/jobs';
import { compileArguments, isTimeZone } from '@flotilla/mcp';
import type { DesiredStatePlan, Registry } from '@flotilla/registry';
import { z } from 'zod';
import type { Actor } from '../actor.js';
import type { CallRules } from '../calls/call-rules.js';
import { refuseUnknownGroups } from '../groups/device-groups.js';
import { refuseJobRequest, timeOfDay } from '../jobs/commands/job-request.js';
import { refuseTool } from '../jobs/commands/refuse-tool.js';
import type { PolicyCache } from '../policies/policy-cache.js';
import { refuse, refuseIssue, sayIssue } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { refuseMasks } from '../stored-secrets.js';

export interface DesiredStateRequest extends Omit<DesiredStatePlan, 'enabled'> {
  /** Undefined: a new one is enabled, and an edit leaves it as it is. */
  readonly enabled: boolean | undefined;
}

interface CheckDeps {
  readonly registry: Pick<Registry, 'toolSets' | 'viewFor'>;
  readonly callRules: CallRules;
  readonly policies: PolicyCache;
}

/** One line of a list. */
const namePattern = /^\P{Cc}{1,100}$/u;
const HOLD_SECONDS_MAX = 30 * 24 * 3_600;
const PRIORITY_MAX = 1_000;
/** Schemas of one tool that are compared with the arguments; a fleet has a few per tool. */
const SCHEMAS_MAX = 100;

const boundsSchema = z.object({
  name: z
    .string()
    .regex(namePattern, 'The name of a desired state has 1 to 100 characters, all on one line.')
    .refine((name) => name.trim() !== '', 'The name of a desired state has 1 to 100 characters, all on one line.'),
  holdSeconds: z.int().min(0).max(HOLD_SECONDS_MAX),
  priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX),
  window: z
    .object({
      from: timeOfDay,
      to: timeOfDay,
      zone: z
        .string()
        .refine(
          isTimeZone,
          'The zone is an IANA name, for example "Europe/Berlin". Leave it out for the zone of each device.',
        )
        .optional(),
      days: z.array(z.int().min(1).max(7)).min(1).max(7).optional(),
    })
    .refine(({ from, to }) => from !== to, {
      path: ['from'],
      message: 'The window is empty: "from" and "to" are the same. Leave the window out to apply always.',
    })
    .optional(),
});

/** The readback that decides what the desired state sets, or the first reason against it. */
export async function checkDesiredState(
  deps: CheckDeps,
  request: DesiredStateRequest,
  actor: Actor,
): Promise<{ readonly readback: Readback } | { readonly refusal: Refusal }> {
  const view = deps.registry.viewFor(actor);
  const refusal =
    refuseBounds(request) ??
    (await refuseUnknownGroups(view, request.devices, ['input', 'devices'])) ??
    (await refuseTool(deps, request.tool, actor, ['input', 'tool'])) ??
    (await refuseMasks(deps.registry.toolSets, request, actor, ['input', 'arguments']));
  if (refusal !== undefined) return { refusal };
  const schemas = await view.toolSets.pageOfTools({ name: request.tool }, { first: SCHEMAS_MAX });
  if (schemas.rows.length === 0)
    return {
      refusal: refuse('TOOL_UNKNOWN', ['input', 'tool'], `No device of the fleet has a tool "${request.tool}".`),
    };
  const policy = await deps.policies.policyOf(request.tool);
  const { readback } = policy;
  if (readback === undefined) return { refusal: withoutReadback(request.tool) };
  const unfit =
    refusePolicy(request.tool, policy) ??
    refuseArguments(request, readback, schemas.rows) ??
    refuseUrls(deps.callRules, request);
  return unfit === undefined ? { readback } : { refusal: unfit };
}

function refuseBounds(request: DesiredStateRequest): Refusal | undefined {
  const issue = boundsSchema.safeParse(request, { error: sayIssue }).error?.issues[0];
  if (issue !== undefined) return refuseIssue(issue, ['input']);
  const { tool, arguments: given, devices, waves, abort, maxInFlight, perMinute } = request;
  return refuseJobRequest({
    tool,
    arguments: given,
    devices,
    maxInFlight,
    ...(waves && { waves }),
    ...(abort && { abort }),
    ...(perMinute === undefined ? {} : { perMinute }),
  });
}

function withoutReadback(tool: string): Refusal {
  return refuse(
    'INVALID',
    ['input', 'tool'],
    `The policy of "${tool}" has no readback, so the hub cannot see whether a device has the value. ` +
      'Add one: set the tool policy with `readback`, that is the tool that reads, the path of the value in its ' +
      'result, and the argument that sets it (setToolPolicy, or `flotilla policies set`).',
  );
}

function refusePolicy(tool: string, { disruptive, idempotent }: ToolPolicy): Refusal | undefined {
  if (disruptive)
    return refuse(
      'INVALID',
      ['input', 'tool'],
      `The policy says that "${tool}" disrupts its device, and a desired state may repeat it at any time. ` +
        'Use a job instead.',
    );
  if (idempotent) return undefined;
  return refuse(
    'INVALID',
    ['input', 'tool'],
    `The policy does not say that "${tool}" may be repeated. If two calls have the effect of one, set \`idempotent\` ` +
      'in its policy.',
  );
}

function refuseArguments(
  { arguments: given, tool }: DesiredStateRequest,
  { argument }: Readback,
  schemas: readonly { readonly inputSchema: Readonly<Record<string, unknown>> }[],
): Refusal | undefined {
  if (!Object.hasOwn(given, argument))
    return refuse(
      'INVALID',
      ['input', 'arguments', argument],
      `The argument "${argument}" is missing: the readback of "${tool}" compares it with the value of the device.`,
    );
  const verdicts = schemas.map(({ inputSchema }) => compileArguments(inputSchema).check(given));
  const [first] = verdicts;
  if (first === undefined || first.ok || verdicts.some(({ ok }) => ok)) return undefined;
  return refuse('ARGUMENTS_INVALID', ['input', 'arguments'], `No device accepts these arguments. ${first.message}`);
}

function refuseUrls(callRules: CallRules, { tool, arguments: given }: DesiredStateRequest): Refusal | undefined {
  const error = callRules.refuseUrls({ tool, arguments: given })?.error;
  return error && refuse(error.code, ['input', 'arguments'], error.message);
}
