/** Ends processes with their open sessions: those that died, and at a stop the own one. */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import type { EventRow, EventStore } from '../events/event-store.js';

/** What ended with processes that died. */
export interface DeadProcesses {
  /** No longer online. Others are connected to another process already. */
  readonly gone: readonly DeviceId[];
  /** Of their sessions, handed to the writer. */
  readonly events: readonly EventRow[];
}

interface GoneDevice extends Record<string, unknown> {
  readonly id: DeviceId;
  /** Null where the device had no open session. */
  readonly epoch: number | null;
}

export const LEFT_MS = `(extract(epoch FROM lease_until - now()) * 1000)::float8`;

/**
 * Records calls with an idempotency key that a dead process did not finish. No call takes longer
 * than five minutes.
 */
const RECORD_CUT_OFF_CALLS = `, cut_off AS (
           INSERT INTO call (id, device_id, tool, arguments, outcome, certainty, error_code, error_message,
             started_at, duration_ms, actor)
           SELECT k.call_id, k.device_id, k.tool, k.arguments, 'UNKNOWN', 'MAYBE', 'HUB_RESTARTED',
             'The hub process that made the call ended before it could record the outcome.', k.started_at,
             extract(epoch FROM greatest(dead.ended_at - k.started_at, interval '0')) * 1000, k.actor
           FROM dead JOIN call_key k ON k.process_id = dead.id
             AND k.started_at BETWEEN dead.ended_at - interval '10 minutes' AND dead.ended_at + interval '1 minute'
           WHERE NOT EXISTS (SELECT FROM call c WHERE c.id = k.call_id)
           ON CONFLICT (id) DO NOTHING
         )`;

/**
 * Ends processes and their open sessions, and returns the devices that were online. Locks those in
 * the order of ids, as the batches of sessions do. $1 the asking process.
 */
const endProcesses = (which: string, reason: string, more = ''): { readonly text: string } => ({
  text: `WITH dead AS (
           DELETE FROM hub_process WHERE ${which} RETURNING id, least(lease_until, now()) AS ended_at
         ), ended AS (
           UPDATE session s SET disconnected_at = greatest(s.connected_at, dead.ended_at), close_reason = '${reason}'
           FROM dead WHERE s.gateway_id = dead.id AND s.disconnected_at IS NULL RETURNING s.device_id, s.epoch
         ), locked AS MATERIALIZED (
           SELECT d.id, dead.ended_at FROM dead JOIN device d ON d.gateway_id = dead.id
           WHERE d.online ORDER BY d.id FOR UPDATE OF d
         ), gone AS (
           UPDATE device d SET online = false, last_seen_at = greatest(d.last_seen_at, l.ended_at)
           FROM locked l WHERE d.id = l.id RETURNING d.id
         )${more}
         SELECT gone.id, e.epoch FROM gone
         LEFT JOIN (SELECT device_id, max(epoch) AS epoch FROM ended GROUP BY device_id) e ON e.device_id = gone.id`,
});
const CRASHED = 'hub_crashed';
/** $2 and $3 bound what is left of the own lease, ms. */
const END_LAPSED = endProcesses(
  `id <> $1 AND lease_until <= now() AND EXISTS (
     SELECT FROM hub_process WHERE id = $1 AND lease_until > now() AND ${LEFT_MS} BETWEEN $2::float8 AND $3::float8)`,
  CRASHED,
  RECORD_CUT_OFF_CALLS,
);
const END_OTHERS = endProcesses('id <> $1', CRASHED, RECORD_CUT_OFF_CALLS);
const END_OWN = endProcesses('id = $1', 'hub_stopping');

type Events = Pick<EventStore, 'append'>;

/** For a process that has the database alone. */
export function endOthers(database: Queryable, events: Events, own: HubProcessId): Promise<DeadProcesses> {
  return endDead(database, events, END_OTHERS, [own]);
}

/** Ends none if what is left of the own lease is not within `leftMs`: a clock jumped. */
export function endLapsed(
  database: Queryable,
  events: Events,
  own: HubProcessId,
  leftMs: readonly [least: number, most: number],
): Promise<DeadProcesses> {
  return endDead(database, events, END_LAPSED, [own, ...leftMs]);
}

export async function endOwn(database: Queryable, own: HubProcessId): Promise<void> {
  await database.query(END_OWN, [own]);
}

/**
 * A device that is connected elsewhere has no event: readers would take it for one that is offline.
 * Events have the time of now, because readers who follow them have seen all that is older.
 */
async function endDead(
  database: Queryable,
  events: Events,
  statement: { readonly text: string },
  values: unknown[],
): Promise<DeadProcesses> {
  const gone = await database.query<GoneDevice>(statement, values);
  const at = Date.now();
  return {
    gone: gone.map(({ id }) => id),
    events: gone
      .filter(({ epoch }) => epoch !== null)
      .map(({ id: deviceId, epoch }) =>
        events.append({ type: 'device.disconnected', deviceId, at, data: { reason: CRASHED, epoch } }),
      ),
  };
}
