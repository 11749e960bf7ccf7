/** Leases of hub processes: a row that its process renews while it lives. What a process left behind is closed once its lease has ended. */
import { hostname } from 'node:os';
import type { HubProcessId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import type { Database, Queryable } from './database/database.js';
import type { RegistryLogger } from './registry-logger.js';
import type { LeaseOptions, ProcessLease } from './registry.js';

const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;
/** The holder stops this much before others may take over: clocks of two machines do not tick alike. */
const STOP_BEFORE_END_MS = 1_000;

const TAKE = {
  text: `INSERT INTO hub_process (id, host, pid, started_at, lease_until) VALUES ($1, $2, $3, now(), now() + $4 * interval '1 millisecond')`,
};
const RENEW = {
  name: 'renew-lease',
  text: `UPDATE hub_process SET lease_until = now() + $2 * interval '1 millisecond' WHERE id = $1 AND lease_until > now() RETURNING id`,
};
const END_OTHERS = { text: `UPDATE hub_process SET lease_until = now() WHERE id <> $1 AND lease_until > now()` };
const END_OWN = { text: `UPDATE hub_process SET lease_until = now() WHERE id = $1` };
const SWEEP = {
  text: `WITH dead AS (
           DELETE FROM hub_process WHERE lease_until <= now() RETURNING id, lease_until
         ), ended AS (
           UPDATE session s SET disconnected_at = greatest(s.connected_at, dead.lease_until), close_reason = $1
           FROM dead WHERE s.gateway_id = dead.id AND s.disconnected_at IS NULL
           RETURNING s.device_id
         ), gone AS (
           UPDATE device d SET online = false FROM dead WHERE d.gateway_id = dead.id AND d.online
         )
         SELECT count(*)::int AS count FROM ended`,
};

export class ProcessLeases {
  readonly #database: Database;
  readonly #logger: RegistryLogger;
  #current: Lease | undefined;

  constructor(database: Database, logger: RegistryLogger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** The process that sessions opened here belong to. */
  get holder(): HubProcessId | undefined {
    return this.#current?.id;
  }

  async take({ aloneOnDatabase = false }: LeaseOptions = {}): Promise<ProcessLease> {
    const id = v7() as HubProcessId;
    const takenAt = Date.now();
    await this.#database.query(TAKE, [id, hostname(), process.pid, LEASE_MS]);
    if (aloneOnDatabase) await this.#database.query(END_OTHERS, [id]);
    await this.sweep();
    this.#current = new Lease(id, this.#database, this.#logger, takenAt);
    return this.#current;
  }

  sweep(): Promise<number> {
    return sweep(this.#database, 'hub_crashed');
  }

  async close(): Promise<void> {
    await this.#current?.release();
  }
}

async function sweep(database: Queryable, reason: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(SWEEP, [reason]);
  return row?.count ?? 0;
}

class Lease implements ProcessLease {
  readonly lost: Promise<void>;
  readonly #database: Database;
  readonly #logger: RegistryLogger;
  readonly #renewals: NodeJS.Timeout;
  #deadline: NodeJS.Timeout | undefined;
  #lose: () => void = () => undefined;
  #released: Promise<void> | undefined;

  constructor(
    readonly id: HubProcessId,
    database: Database,
    logger: RegistryLogger,
    takenAt: number,
  ) {
    this.#database = database;
    this.#logger = logger;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    this.#renewals = setInterval(() => void this.#renew(), RENEW_EVERY_MS).unref();
    this.#endAt(takenAt + LEASE_MS);
  }

  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    this.#stop();
    await this.#database.query(END_OWN, [this.id]);
    await sweep(this.#database, 'hub_stopping');
  }

  async #renew(): Promise<void> {
    // Counted from before the question: the answer may have taken long.
    const askedAt = Date.now();
    try {
      const renewed = await this.#database.query(RENEW, [this.id, LEASE_MS]);
      if (this.#released !== undefined) return;
      if (renewed.length > 0) this.#endAt(askedAt + LEASE_MS);
      else this.#end('the lease of this process was given to nobody in time and is over');
    } catch (error) {
      this.#logger.warn({ processId: this.id, err: error }, 'the lease of this process was not renewed; trying again');
    }
  }

  #endAt(leaseUntil: number): void {
    clearTimeout(this.#deadline);
    const left = leaseUntil - STOP_BEFORE_END_MS - Date.now();
    this.#deadline = setTimeout(() => {
      this.#end('the lease of this process could not be renewed in time');
    }, left).unref();
  }

  #end(message: string): void {
    this.#stop();
    this.#logger.error({ processId: this.id }, message);
    this.#lose();
  }

  #stop(): void {
    clearInterval(this.#renewals);
    clearTimeout(this.#deadline);
  }
}
