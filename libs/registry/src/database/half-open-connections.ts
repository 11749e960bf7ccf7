/**
 * Finds connections whose other end is gone although nothing closed them, as after a failover of a
 * network device. Their statements would wait until STATEMENT_TIMEOUT_MS, and a lost transaction
 * would keep its locks for hours.
 */
import type pg from 'pg';
import { messageOf } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';

export interface HalfOpenLimits {
  /** How often connections are checked, ms. */
  readonly everyMs: number;
  /** Checks that a connection must be in use for before PostgreSQL is asked about it. */
  readonly checks: number;
}

export const halfOpenLimits: HalfOpenLimits = { everyMs: 1_000, checks: 5 };

/**
 * The server ends a transaction that receives no statement for so long, s, and closes a connection
 * whose client does not acknowledge anything for about 90 s.
 */
const SESSION_SETTINGS = `SET idle_in_transaction_session_timeout = '10s'; SET tcp_keepalives_idle = 60;
  SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3`;

/** For `verify` of a pool: sets up each new connection before its first use. */
export function limitSession(client: pg.PoolClient, done: (error?: Error) => void): void {
  client.query(SESSION_SETTINGS).then(() => done(), done);
}

/** Sessions of $1 that have been waiting for their client for $2 ms. */
const WAITING_FOR_CLIENT = `SELECT pid FROM pg_stat_activity
  WHERE pid = ANY($1) AND state LIKE 'idle%' AND state_change < clock_timestamp() - $2 * interval '1 millisecond'`;

/** pg knows the id of the server's process; its types do not. */
type Connection = pg.PoolClient & { readonly processID: number | null };

export class HalfOpenConnections {
  /** Connections in use, and the number of checks that have seen them so. */
  readonly #inUse = new Map<pg.PoolClient, number>();
  readonly #pool: pg.Pool;
  /** Opens a connection for each question: those of `pool` may all be half-open. */
  readonly #questions: pg.Pool;
  readonly #logger: RegistryLogger;
  readonly #limits: HalfOpenLimits;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;

  constructor(pool: pg.Pool, questions: pg.Pool, logger: RegistryLogger, limits = halfOpenLimits) {
    this.#pool = pool;
    this.#questions = questions;
    this.#logger = logger;
    this.#limits = limits;
    pool.on('acquire', (client) => this.#inUse.set(client, 0));
    pool.on('release', (_error, client) => this.#inUse.delete(client));
    pool.on('remove', (client) => this.#inUse.delete(client));
    questions.on('error', () => undefined);
    this.#timer = setInterval(() => void this.#check(), limits.everyMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#questions.end();
  }

  async #check(): Promise<void> {
    // Counted, not timed: a process that stood still sees its connections once, not for a minute.
    for (const [client, checks] of this.#inUse) this.#inUse.set(client, checks + 1);
    const suspects = [...this.#inUse.keys()].filter((client) => this.#isSuspect(client)) as Connection[];
    if (suspects.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const waitMs = this.#limits.checks * this.#limits.everyMs;
      const pids = suspects.flatMap(({ processID }) => processID ?? []);
      const { rows } = await this.#questions.query<{ pid: number }>(WAITING_FOR_CLIENT, [pids, waitMs]);
      const waiting = new Set(rows.map(({ pid }) => pid));
      this.#close(suspects.filter((client) => waiting.has(client.processID ?? 0) && this.#isSuspect(client)));
    } catch (error) {
      // Without an answer nothing is known. Statements have their own timeouts.
      this.#logger.warn({ message: messageOf(error) }, 'could not ask PostgreSQL about connections without an answer');
    } finally {
      this.#isAsking = false;
    }
  }

  #isSuspect(client: pg.PoolClient): boolean {
    return (this.#inUse.get(client) ?? 0) > this.#limits.checks;
  }

  /** Closes these connections, and the idle ones, which took the same way. */
  #close(halfOpen: readonly Connection[]): void {
    if (halfOpen.length === 0) return;
    this.#logger.warn({ connections: halfOpen.length }, 'closed PostgreSQL connections that were cut without notice');
    for (const client of halfOpen) client.connection.stream.destroy();
    closeIdle(this.#pool);
  }
}

/** Closes the idle connections of a pool: new ones are opened when they are needed. */
export function closeIdle(pool: pg.Pool): void {
  for (let idle = pool.idleCount; idle > 0; idle -= 1)
    pool.connect().then(
      (client) => client.release(true),
      () => undefined,
    );
}
