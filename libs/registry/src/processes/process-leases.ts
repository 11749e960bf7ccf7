/**
 * Leases of hub processes: rows that processes renew. A lapsed lease is revived by the next
 * renewal, because an outage of PostgreSQL must not end hubs; only a removed row is lost. A process
 * removes others only after it held its own lease for a whole period, in which living ones renew
 * theirs. A clock of PostgreSQL that jumps, as after a failover, ends the period.
 */
import { hostname } from 'node:os';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import type { Queryable } from '../database/database.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { LeaseOptions, ProcessLease, WriterStatus } from '../registry.js';
import type { GatewayPlace } from './gateway-places.js';
import { storedWriters } from './process-writers.js';

/** Milliseconds. */
interface LeaseTiming {
  /** How long after its last renewal a process counts as dead. */
  readonly leaseMs: number;
  /** Two renewals may fail before the lease lapses. */
  readonly renewEveryMs: number;
  /** The pause after a failed renewal. */
  readonly retryAfterMs: number;
}

const defaultTiming: LeaseTiming = { leaseMs: 15_000, renewEveryMs: 5_000, retryAfterMs: 1_000 };

const LEFT_MS = `(extract(epoch FROM lease_until - now()) * 1000)::float8`;
/** By how much of its length the rest of a lease may differ from what its holder expects. */
const EXPECTED_WITHIN = 1 / 8;

const TAKE = {
  text: `INSERT INTO hub_process (id, host, pid, started_at, lease_until, roles, version)
         VALUES ($1, $2, $3, now(), now() + $4 * interval '1 millisecond', $5, $6)`,
};
const RENEW = {
  name: 'renew-lease',
  // A later answer would be about a lapsed lease.
  timeoutMs: 5_000,
  text: `WITH former AS (SELECT id, ${LEFT_MS} AS left_ms FROM hub_process WHERE id = $1 FOR UPDATE)
         UPDATE hub_process p SET lease_until = now() + $2 * interval '1 millisecond', writers = $3
         FROM former f WHERE p.id = f.id RETURNING f.left_ms`,
};

const MARK_STOPPING = { text: 'UPDATE hub_process SET is_stopping = true WHERE id = $1' };
const ANNOUNCE_PLACE = { text: 'UPDATE hub_process SET mqtt_endpoint = $2, accepts_devices = $3 WHERE id = $1' };
const SUCCESSOR_ROLES = {
  name: 'successor-roles',
  text: `SELECT DISTINCT unnest(roles) AS role FROM hub_process
         WHERE id <> $1 AND lease_until > now() AND NOT is_stopping`,
};

/** Ids are UUIDv7, in the order of the starts. */
const ELDEST = {
  name: 'eldest-process',
  text: `SELECT id FROM hub_process WHERE lease_until > now() AND NOT is_stopping AND $1 = ANY(roles)
         ORDER BY id LIMIT 1`,
};

const LIVING = {
  name: 'living-processes',
  text: `SELECT id, ${LEFT_MS} AS left_ms FROM hub_process WHERE lease_until > now()`,
};

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
 * the order of ids, as the batches of sessions do. $1 the asking process, $2 the close reason.
 */
const endProcesses = (which: string, more = ''): { readonly text: string } => ({
  text: `WITH dead AS (
           DELETE FROM hub_process WHERE ${which} RETURNING id, least(lease_until, now()) AS ended_at
         ), ended AS (
           UPDATE session s SET disconnected_at = greatest(s.connected_at, dead.ended_at), close_reason = $2
           FROM dead WHERE s.gateway_id = dead.id AND s.disconnected_at IS NULL
         ), locked AS MATERIALIZED (
           SELECT d.id, dead.ended_at FROM dead JOIN device d ON d.gateway_id = dead.id
           WHERE d.online ORDER BY d.id FOR UPDATE OF d
         ), gone AS (
           UPDATE device d SET online = false, last_seen_at = greatest(d.last_seen_at, l.ended_at)
           FROM locked l WHERE d.id = l.id RETURNING d.id
         )${more}
         SELECT id FROM gone`,
});
/** $3 and $4 bound what is left of the own lease, ms. */
const END_LAPSED = endProcesses(
  `id <> $1 AND lease_until <= now() AND EXISTS (
     SELECT FROM hub_process WHERE id = $1 AND lease_until > now() AND ${LEFT_MS} BETWEEN $3::float8 AND $4::float8)`,
  RECORD_CUT_OFF_CALLS,
);
const END_OTHERS = endProcesses('id <> $1', RECORD_CUT_OFF_CALLS);
const END_OWN = endProcesses('id = $1');

interface LeaseDeps {
  readonly database: Queryable;
  readonly logger: RegistryLogger;
  readonly timing: LeaseTiming;
}

/** The writers of the process that takes a lease. */
type Writers = () => readonly WriterStatus[];

export class ProcessLeases {
  readonly #deps: LeaseDeps;
  #current: Lease | undefined;

  constructor(database: Queryable, logger: RegistryLogger, timing = defaultTiming) {
    this.#deps = { database, logger, timing };
  }

  /** The process to which sessions of this gateway belong. */
  get holder(): HubProcessId | undefined {
    return this.#current?.id;
  }

  async take(
    { aloneOnDatabase = false, roles = [], version = '' }: LeaseOptions = {},
    writers: Writers = () => [],
  ): Promise<ProcessLease> {
    const { database, timing } = this.#deps;
    const id = v7() as HubProcessId;
    const takenAt = performance.now();
    await database.query(TAKE, [id, hostname(), process.pid, timing.leaseMs, roles, version]);
    if (aloneOnDatabase) await database.query(END_OTHERS, [id, 'hub_crashed']);
    this.#current = new Lease(id, this.#deps, takenAt, writers);
    return this.#current;
  }

  /** Ends none while an outage may have kept other processes from renewing their leases. */
  async sweep(): Promise<readonly DeviceId[]> {
    if (this.#current?.isSteady !== true) return [];
    const { id, expectedLeftMs } = this.#current;
    const values = [id, 'hub_crashed', ...expectedLeftMs];
    const gone = await this.#deps.database.query<{ id: DeviceId }>(END_LAPSED, values);
    return gone.map(({ id }) => id);
  }

  /** The processes with living leases; undefined while the own lease is new or just revived. */
  async living(): Promise<ReadonlySet<HubProcessId> | undefined> {
    if (this.#current?.isSettled !== true) return undefined;
    const { id: own, expectedLeftMs } = this.#current;
    const rows = await this.#deps.database.query<{ id: HubProcessId; left_ms: number }>(LIVING, []);
    const leftMs = rows.find(({ id }) => id === own)?.left_ms;
    if (leftMs === undefined || leftMs < expectedLeftMs[0] || leftMs > expectedLeftMs[1]) return undefined;
    return new Set(rows.map(({ id }) => id));
  }

  /** The roles that other living processes have, which do not stop. */
  async successorRoles(): Promise<ReadonlySet<string>> {
    if (this.#current === undefined) return new Set();
    const rows = await this.#deps.database.query<{ role: string }>(SUCCESSOR_ROLES, [this.#current.id]);
    return new Set(rows.map(({ role }) => role));
  }

  /** Whether this process is the oldest living one with the role that does not stop. */
  async isEldest(role: string): Promise<boolean> {
    if (this.#current === undefined) return false;
    const [eldest] = await this.#deps.database.query<{ id: HubProcessId }>(ELDEST, [role]);
    return eldest?.id === this.#current.id;
  }

  async close(): Promise<void> {
    await this.#current?.release();
  }
}

class Lease implements ProcessLease {
  readonly lost: Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  /** Since when there was no gap. */
  #heldSince: number;
  /** Counted from before the question: the answer may have taken long. */
  #heldUntil: number;
  #isFailing = false;
  #lose: () => void = () => undefined;
  #released: Promise<void> | undefined;

  constructor(
    readonly id: HubProcessId,
    private readonly deps: LeaseDeps,
    takenAt: number,
    private readonly writers: Writers,
  ) {
    this.#heldSince = takenAt;
    this.#heldUntil = takenAt + deps.timing.leaseMs;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    this.#renewIn(deps.timing.renewEveryMs);
  }

  get isSteady(): boolean {
    return this.#isHeldFor(this.deps.timing.leaseMs);
  }

  /**
   * After an outage of PostgreSQL the other processes need a few seconds to renew their leases,
   * too.
   */
  get isSettled(): boolean {
    return this.#isHeldFor(this.deps.timing.leaseMs / 2);
  }

  /** What PostgreSQL should find left, unless its clock jumped or the lease was renewed. */
  get expectedLeftMs(): readonly [least: number, most: number] {
    const leftMs = this.#heldUntil - performance.now();
    const withinMs = this.deps.timing.leaseMs * EXPECTED_WITHIN;
    return [leftMs - withinMs, leftMs + withinMs];
  }

  #isHeldFor(durationMs: number): boolean {
    const now = performance.now();
    return now < this.#heldUntil && now - this.#heldSince >= durationMs;
  }

  async markStopping(): Promise<void> {
    await this.deps.database.query(MARK_STOPPING, [this.id]);
  }

  async announcePlace({ endpoint, acceptsDevices }: GatewayPlace): Promise<void> {
    await this.deps.database.query(ANNOUNCE_PLACE, [this.id, endpoint, acceptsDevices]);
  }

  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    clearTimeout(this.#timer);
    await this.deps.database.query(END_OWN, [this.id, 'hub_stopping']);
  }

  #renewIn(delayMs: number): void {
    if (this.#released === undefined) this.#timer = setTimeout(() => void this.#renew(), delayMs).unref();
  }

  async #renew(): Promise<void> {
    const { database, logger, timing } = this.deps;
    const askedAt = performance.now();
    try {
      const values = [this.id, timing.leaseMs, storedWriters(this.writers())];
      const [former] = await database.query<{ left_ms: number }>(RENEW, values);
      if (this.#released !== undefined) return;
      if (former === undefined) this.#end();
      else this.#renewed(askedAt, former.left_ms);
    } catch (error) {
      if (!this.#isFailing)
        logger.warn({ processId: this.id, err: error }, 'the lease of this process was not renewed; trying again');
      this.#isFailing = true;
      this.#renewIn(timing.retryAfterMs);
    }
  }

  #renewed(askedAt: number, leftMs: number): void {
    const { logger, timing } = this.deps;
    const lapsedMs = askedAt - this.#heldUntil;
    if (lapsedMs < 0 && leftMs < this.expectedLeftMs[0]) {
      this.#heldSince = askedAt;
      logger.warn({ processId: this.id, leftMs }, 'the clock of PostgreSQL is ahead of where it was');
    }
    if (lapsedMs >= 0) {
      this.#heldSince = askedAt;
      logger.warn({ processId: this.id, lapsedMs }, 'the lease of this process had lapsed and is revived');
    }
    this.#heldUntil = askedAt + timing.leaseMs;
    this.#isFailing = false;
    this.#renewIn(timing.renewEveryMs);
  }

  #end(): void {
    this.deps.logger.error(
      { processId: this.id },
      'the lease of this process lapsed, and another process has ended it',
    );
    this.#lose();
  }
}
