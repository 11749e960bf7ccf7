/**
 * Decides which single calls the audit trail records, and what their entries contain. Calls of
 * user-only and disruptive tools are recorded; reading a sensor is not.
 */
import type { ToolPolicy } from '@flotilla/jobs';
import { maskArguments } from '@flotilla/mcp';
import type { CallRow, NewAuditEntry, ToolSet } from '@flotilla/registry';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';

export type AuditedCallAction = 'call.privileged' | 'call.disruptive';

/** Undefined: an ordinary call. */
export function auditedActionOf(
  toolSet: ToolSet | undefined,
  tool: string,
  policy: ToolPolicy,
): AuditedCallAction | undefined {
  if (toolSet?.tools.some(({ name, userOnly }) => userOnly && name === tool) === true) return 'call.privileged';
  return policy.disruptive ? 'call.disruptive' : undefined;
}

/**
 * The entry of a call before it is sent. It shows the intent even if the hub dies during the call.
 */
export function entryOfIntent(action: AuditedCallAction, call: AuditedCall, actor: Actor): NewAuditEntry {
  const { id, tool, arguments: args, startedAt } = call;
  return {
    ...sourceOf(actor),
    action,
    subject: subjectOf(call),
    data: { callId: id, tool, arguments: maskArguments(tool, args) },
    at: startedAt,
  };
}

/** Of a call that has ended after its intent was written. */
export function entryOfEnd(call: CallRow, actor: Actor): NewAuditEntry {
  const { id, tool, outcome, error, startedAt, durationMs = 0 } = call;
  const data = { callId: id, tool, outcome, errorCode: error?.code, durationMs };
  return { ...sourceOf(actor), action: 'call.ended', subject: subjectOf(call), data, at: startedAt + durationMs };
}

/** Of a call that was refused before the wire: its intent and its end in one. */
export function entryOfRefused(action: AuditedCallAction, call: CallRow, actor: Actor): NewAuditEntry {
  const intent = entryOfIntent(action, call, actor);
  return { ...intent, data: { ...intent.data, outcome: call.outcome, errorCode: call.error?.code } };
}

type AuditedCall = Pick<CallRow, 'id' | 'deviceId' | 'tool' | 'arguments' | 'startedAt'>;

function subjectOf({ deviceId }: Pick<CallRow, 'deviceId'>): string {
  return `device:${deviceId}`;
}
