/** Rows of desired states, on their way into PostgreSQL and out of it. */
import type { Entry } from '@flotilla/desired-state';
import type { Readback } from '@flotilla/jobs';
import type { DeviceId } from '@flotilla/mcp';
import { toCallError, type ErrorColumns } from '../calls/call-rows.js';
import type { AuditedChange } from '../audit/audit-entry.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { plainRow } from '../database/plain-row.js';
import type { DesiredState, DesiredStateEdit, Prisma } from '../generated/prisma/client.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import { propertyOf } from './desired-state.js';
import type {
  DesiredStateEditRow,
  DesiredStatePlan,
  DesiredStateRow,
  DesiredTargetRow,
  SavedDesiredState,
  StoredPlan,
} from './desired-state.js';

/** Columns that no reader sees. */
export const OMITTED = {
  secretArguments: true,
  idempotencyKey: true,
  requestHash: true,
  ownerId: true,
  fence: true,
} as const;

/** The plan without what has its own columns, and with the arguments as readers see them. */
function planJson(plan: StoredPlan, shown: DesiredStatePlan['arguments']): Prisma.InputJsonValue {
  const { devices, tool, mode, onDrift, holdSeconds, priority, window, waves, abort, maxInFlight, perMinute } = plan;
  return storableJson({
    devices,
    tool,
    arguments: shown,
    mode,
    onDrift,
    holdSeconds,
    priority,
    window,
    waves,
    abort,
    maxInFlight,
    perMinute,
  });
}

/** What an edit saves, also beside the row: the plan with its secrets sealed, and the readback. */
export function sealedPlan(seal: ArgumentSeal, plan: SavedDesiredState) {
  const { shown, sealed } = seal.seal(plan.id, plan.tool, plan.arguments);
  return {
    plan: planJson(plan, shown),
    secretArguments: sealed === undefined ? null : Uint8Array.from(sealed),
    readback: storableJson(plan.readback),
  };
}

/** With waves or abort rules the generation applies to a device when its roll-out reaches it. */
export function columnsOf(
  seal: ArgumentSeal,
  plan: SavedDesiredState,
  {
    generation,
    settledBefore,
    at,
  }: { readonly generation: number; readonly settledBefore: number; readonly at: number },
) {
  const isRolledOut = plan.mode === 'ENFORCE' && (plan.waves !== undefined || plan.abort !== undefined);
  return {
    name: storableText(plan.name),
    savedById: plan.savedById,
    secretsById: plan.secretsById,
    ...sealedPlan(seal, plan),
    property: storableText(propertyOf(plan.readback)),
    updatedAt: new Date(at),
    settledGeneration: isRolledOut ? settledBefore : generation,
    rolloutJobId: null,
    ...restarted(at),
  };
}

/** The clock of t50 and the others starts again. */
export function restarted(at: number) {
  return { editedAt: new Date(at), t50Ms: null, t95Ms: null, t99Ms: null };
}

export function toDesiredState({ plan, readback, ...row }: Omit<DesiredState, keyof typeof OMITTED>): DesiredStateRow {
  return {
    ...(plan as unknown as StoredPlan),
    ...plainRow(row),
    secretsById: row.secretsById ?? row.savedById,
    readback: readback as unknown as Readback,
  };
}

export function toEdit(row: Omit<DesiredStateEdit, 'desiredStateId' | 'secretArguments'>): DesiredStateEditRow {
  const { generation, at, by, plan, readback } = row;
  return {
    generation,
    at: at.getTime(),
    by,
    plan: plan as unknown as StoredPlan,
    readback: readback as unknown as Readback,
  };
}

export function changeOf(
  action: string,
  { id, name, generation, ...row }: DesiredStateRow,
  at: number,
  more: Readonly<Record<string, unknown>> = {},
): AuditedChange {
  const { devices, tool, mode, onDrift, holdSeconds, priority, window, waves, abort, maxInFlight, perMinute } = row;
  const data = {
    name,
    generation,
    devices,
    tool,
    arguments: row.arguments,
    mode,
    onDrift,
    holdSeconds,
    priority,
    window,
    waves,
    abort,
    maxInFlight,
    perMinute,
    enabled: row.enabled,
    ...more,
  };
  return { action, subject: `desired-state:${id}`, data, at };
}

export interface TargetRecord extends ErrorColumns {
  readonly desired_state_id: string;
  readonly device_id: string;
  readonly state: Entry['state'];
  readonly since: Date;
  readonly observed_generation: number;
  readonly synced_generation: number;
  readonly reported: unknown;
  readonly reported_at: Date | null;
  readonly attempts: number;
  readonly next_try_at: Date | null;
  readonly edge_at: Date | null;
  readonly reverts: readonly number[];
  readonly blocked_by: readonly string[];
  readonly is_sending: boolean;
}

export const TARGET_COLUMNS = `t.desired_state_id, t.device_id, t.state, t.since, t.observed_generation,
  t.synced_generation, t.reported, t.reported_at, t.attempts, t.next_try_at, t.edge_at, t.reverts, t.error_code,
  t.error_message, t.rpc_code, t.blocked_by, t.is_sending`;

export function toTarget(record: TargetRecord): DesiredTargetRow {
  return {
    desiredStateId: record.desired_state_id,
    deviceId: record.device_id as DeviceId,
    state: record.state,
    since: record.since.getTime(),
    observedGeneration: record.observed_generation,
    syncedGeneration: record.synced_generation,
    reported: record.reported_at === null ? undefined : record.reported,
    reportedAt: record.reported_at?.getTime(),
    attempts: record.attempts,
    nextTryAt: record.next_try_at?.getTime(),
    edgeAt: record.edge_at?.getTime(),
    reverts: record.reverts,
    error: toCallError(record),
    blockedBy: record.blocked_by,
    isSending: record.is_sending,
  };
}
