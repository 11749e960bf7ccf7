/**
 * Whether a caller may use a tool at all, before any device is checked: the same for creating,
 * approving and rerunning a job.
 */
import type { Registry, Scope } from '@flotilla/registry';
import type { Actor } from '../../actor.js';
import { FleetError } from '../../fleet-error.js';
import type { CallRules } from '../../calls/call-rules.js';
import { refuse } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';

interface RefuseToolDeps {
  readonly registry: Pick<Registry, 'toolSets'>;
  readonly callRules: CallRules;
}

/**
 * Throws FleetError FORBIDDEN. The scopes for jobs allow no tools; roll-outs have their own scope.
 */
export function requireToolScope({ mayCallTools }: Actor): void {
  if (mayCallTools === false)
    throw new FleetError('FORBIDDEN', 'A job that calls a tool needs the scope TOOLS_CALL, which you do not have.');
}

/**
 * Refuses a tool that is user-only on every device that has it. Other tools are judged per device.
 */
export async function refuseTool(
  { registry, callRules }: RefuseToolDeps,
  tool: string,
  actor: Actor,
  path: readonly string[],
): Promise<Refusal | undefined> {
  const forbidden = callRules.refuseActor(tool, actor)?.error;
  if (forbidden !== undefined) return refuse(forbidden.code, path, forbidden.message);
  if (actor.mayCallUserOnly) return undefined;
  const [open, guarded] = await Promise.all(
    [false, true].map((userOnly) => registry.toolSets.pageOfTools({ name: tool, userOnly }, { first: 1 })),
  );
  return open?.rows.length !== 0 || guarded?.rows.length === 0 ? undefined : userOnlyTool(tool, path);
}

/** The scope besides JOBS_WRITE that the actor lacks for a job that calls the tool. */
export async function scopeToCall(deps: RefuseToolDeps, tool: string, actor: Actor): Promise<Scope | undefined> {
  if (actor.mayCallTools === false) return 'TOOLS_CALL';
  if (deps.callRules.refuseActor(tool, actor) !== undefined) return 'FIRMWARE_WRITE';
  return (await refuseTool(deps, tool, actor, [])) && 'TOOLS_CALL_PRIVILEGED';
}

export function userOnlyTool(tool: string, path: readonly string[]): Refusal {
  return refuse(
    'TOOL_FORBIDDEN',
    path,
    `"${tool}" is for users only: calling it needs the scope TOOLS_CALL_PRIVILEGED.`,
  );
}
