/**
 * Leases of hub processes: rows that processes renew. A lapsed lease is revived by the next
 * renewal, because an outage of PostgreSQL must not end hubs; only a removed row is lost. A process
 * removes others only after it held its lease for a full period without a gap. A jump of
 * PostgreSQL's clock counts as a gap.
 */
import { hostname } from 'node:os';
import type { HubProcessId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import type { Queryable } from '../database/database.js';
import type { EventStore } from '../events/event-store.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { LeaseOptions, ProcessLease, WriterStatus } from '../registry.js';
import { endLapsed, endOthers, endOwn, LEFT_MS } from './end-processes.js';
import type { DeadProcesses } from './end-processes.js';
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

  constructor(
    database: Queryable,
    private readonly events: Pick<EventStore, 'append'>,
    logger: RegistryLogger,
    timing = defaultTiming,
  ) {
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
    if (aloneOnDatabase) await endOthers(database, this.events, id);
    this.#current = new Lease(id, this.#deps, takenAt, writers);
    return this.#current;
  }

  /** Ends none while an outage may have kept other processes from renewing their leases. */
  async sweep(): Promise<DeadProcesses> {
    if (this.#current?.isSteady !== true) return { gone: [], events: [] };
    const { id, expectedLeftMs } = this.#current;
    return endLapsed(this.#deps.database, this.events, id, expectedLeftMs);
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
    await endOwn(this.deps.database, this.id);
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
