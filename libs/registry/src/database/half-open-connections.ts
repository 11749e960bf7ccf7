/**
 * Finds connections whose other end is gone although nothing closed them, as after a failover of a
 * network device. Their statements would wait until STATEMENT_TIMEOUT_MS, and a lost transaction
 * would keep its locks for hours.
 */
import type { Socket } from 'node:net';
import type pg from 'pg';
import { messageOf } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';

export interface HalfOpenLimits {
  /** How often connections are checked, ms. */
  readonly everyMs: number;
  /** Checks without traffic on a connection in use, after which PostgreSQL is asked about it. */
  readonly checks: number;
}

const halfOpenLimits: HalfOpenLimits = { everyMs: 1_000, checks: 5 };

/** The server closes a connection whose client does not acknowledge anything for about 90 s. */
export const KEEP_ALIVE =
  'SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3';
/** It also ends a transaction that receives no statement for so long. */
const SESSION_SETTINGS = `${KEEP_ALIVE}; SET idle_in_transaction_session_timeout = '10s'`;

/** Differs between servers and after a restart. A number, as a text depends on the time zone. */
const SERVER = 'extract(epoch FROM pg_postmaster_start_time())::text AS server';
const servers = new WeakMap<pg.PoolClient, string>();

/** For `verify` of a pool: sets up each new connection before its first use. */
export function limitSession(client: pg.PoolClient, done: (error?: Error) => void): void {
  const settled = client.query(SESSION_SETTINGS).then(() => client.query<{ server: string }>(`SELECT ${SERVER}`));
  settled.then(({ rows }) => {
    servers.set(client, rows[0]?.server ?? '');
    done();
  }, done);
}

/** The same for connections whose transactions may rest. */
export function keepSessionAlive(client: pg.PoolClient, done: (error?: Error) => void): void {
  client.query(KEEP_ALIVE).then(() => done(), done);
}

/** The server, and its sessions of $1 that have been waiting for their client for $2 ms. */
const WAITING_FOR_CLIENT = `SELECT ${SERVER}, ARRAY(SELECT pid FROM pg_stat_activity WHERE pid = ANY($1)
  AND state LIKE 'idle%' AND state_change < clock_timestamp() - $2 * interval '1 millisecond') AS pids`;

interface Answer {
  readonly server: string;
  readonly pids: readonly number[];
}

/** pg knows the id of the server's process; its types do not. */
type Connection = pg.PoolClient & { readonly processID: number | null };

interface Use {
  /** Bytes in both directions at the last check. */
  readonly traffic: number;
  /** Checks since then without any. */
  readonly quietChecks: number;
}

const begun: Use = { traffic: 0, quietChecks: 0 };

export class HalfOpenConnections {
  /** Connections in use. */
  readonly #inUse = new Map<pg.PoolClient, Use>();
  readonly #limits: HalfOpenLimits;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;

  constructor(
    private readonly pool: pg.Pool,
    /** Opens a connection for each question: those of `pool` may all be half-open. */
    private readonly questions: pg.Pool,
    private readonly logger: RegistryLogger,
    limits = halfOpenLimits,
  ) {
    this.#limits = limits;
    pool.on('acquire', (client) => this.#inUse.set(client, begun));
    pool.on('release', (_error, client) => this.#inUse.delete(client));
    pool.on('remove', (client) => this.#inUse.delete(client));
    questions.on('error', () => undefined);
    this.#timer = setInterval(() => void this.#check(), limits.everyMs).unref();
  }

  /** Closes all connections in use: their statements fail. */
  cut(): void {
    for (const client of this.#inUse.keys()) client.connection.stream.destroy();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.questions.end();
  }

  async #check(): Promise<void> {
    // Counted, not timed: a process that stood still sees its connections once, not for a minute.
    for (const [client, use] of this.#inUse) {
      const { bytesRead, bytesWritten } = client.connection.stream as Socket;
      const traffic = bytesRead + bytesWritten;
      this.#inUse.set(client, { traffic, quietChecks: traffic === use.traffic ? use.quietChecks + 1 : 0 });
    }
    const suspects = [...this.#inUse.keys()].filter((client) => this.#isSuspect(client)) as Connection[];
    if (suspects.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const waitMs = this.#limits.checks * this.#limits.everyMs;
      const pids = suspects.flatMap(({ processID }) => processID ?? []);
      const { rows } = await this.questions.query<Answer>(WAITING_FOR_CLIENT, [pids, waitMs]);
      const [answer] = rows;
      if (answer === undefined) return;
      const isHalfOpen = (client: Connection): boolean =>
        // The server that this one has replaced does not answer any more.
        servers.get(client) !== answer.server || answer.pids.includes(client.processID ?? 0);
      this.#close(suspects.filter((client) => this.#isSuspect(client) && isHalfOpen(client)));
    } catch (error) {
      // Without an answer nothing is known. Statements have their own timeouts.
      this.logger.warn({ message: messageOf(error) }, 'could not ask PostgreSQL about connections without an answer');
    } finally {
      this.#isAsking = false;
    }
  }

  #isSuspect(client: pg.PoolClient): boolean {
    return (this.#inUse.get(client)?.quietChecks ?? 0) >= this.#limits.checks;
  }

  /** Closes these connections, and the idle ones, which took the same way. */
  #close(halfOpen: readonly Connection[]): void {
    if (halfOpen.length === 0) return;
    this.logger.warn({ connections: halfOpen.length }, 'closed PostgreSQL connections that were cut without notice');
    for (const client of halfOpen) client.connection.stream.destroy();
    closeIdle(this.pool);
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
