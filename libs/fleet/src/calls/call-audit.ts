/** Which single calls are worth an entry in the audit trail, and what it says. Reading a sensor is not; what only users may do, or what stops a device, is. */
import type { ToolPolicy } from '@flotilla/jobs';
import type { CallRow, NewAuditEntry, ToolSet } from '@flotilla/registry';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';

export type AuditedCallAction = 'call.privileged' | 'call.disruptive';

/** Undefined: an ordinary call. */
export function auditedActionOf(toolSet: ToolSet | undefined, tool: string, policy: ToolPolicy): AuditedCallAction | undefined {
  if (toolSet?.tools.some(({ name, userOnly }) => userOnly && name === tool) === true) return 'call.privileged';
  return policy.disruptive ? 'call.disruptive' : undefined;
}

export function entryOfCall(action: AuditedCallAction, call: CallRow, actor: Actor): NewAuditEntry {
  const { id, deviceId, tool, outcome, error, startedAt, durationMs } = call;
  return {
    ...sourceOf(actor),
    action,
    subject: `device:${deviceId}`,
    data: { callId: id, tool, arguments: call.arguments, outcome, errorCode: error?.code, durationMs },
    at: startedAt,
  };
}
