/** The connection to PostgreSQL: one pool, used by Prisma for everything ordinary and directly for the few hot statements. Gives every failure a RegistryError. */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.js';
import { messageOf, RegistryError } from '../registry-error.js';
import type { AuditKey } from '../audit/audit-key.js';
import type { RegistryLogger } from '../registry-logger.js';

export interface Statement {
  /** Prepared once per connection under this name; the text must not vary. */
  readonly name?: string;
  readonly text: string;
  /** Where a minute is too long to wait for the answer, ms. */
  readonly timeoutMs?: number;
}

/** A pool or a connection inside a transaction. */
export interface Queryable {
  /** What entries of the audit trail are chained with; undefined: by plain hashes. */
  readonly auditKey?: AuditKey | undefined;
  query<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<readonly Row[]>;
}

/** A statement that waits longer than this for a connection counts as "PostgreSQL is away". */
export const CONNECT_TIMEOUT_MS = 10_000;
/**
 * A statement that is not answered by then is given up and its connection cut: a server that hangs, or a network that swallows packets, would hold both
 * for a quarter of an hour otherwise. The longest statements of ours, which prepare a large job, take a few seconds.
 */
const STATEMENT_TIMEOUT_MS = 60_000;
/** For small questions that somebody waits for, like all that Prisma is asked. */
export const QUESTION_TIMEOUT_MS = 5_000;

export class Database implements Queryable {
  readonly prisma: PrismaClient;
  readonly #pool: pg.Pool;

  constructor(
    databaseUrl: string,
    poolMax: number,
    logger: RegistryLogger,
    readonly auditKey?: AuditKey,
  ) {
    this.#pool = new pg.Pool({
      connectionString: databaseUrl,
      max: poolMax,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'flotilla',
    });
    this.#pool.on('error', (error) => {
      // The embedded server may cut connections that are still saying goodbye.
      if (this.#pool.ending) return;
      logger.warn({ message: error.message }, 'an idle PostgreSQL connection ended');
    });
    // The pool listens to connections that are idle. One that breaks in a transaction fails its statements; unheard, its event would end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
    this.prisma = new PrismaClient({ adapter: new PrismaPg(this.#pool) });
  }

  async query<Row extends pg.QueryResultRow>(
    { timeoutMs, ...statement }: Statement,
    values: unknown[],
  ): Promise<readonly Row[]> {
    try {
      const query = { ...statement, values, ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs }) };
      return (await this.#pool.query<Row>(query)).rows;
    } catch (error) {
      throw databaseError(error);
    }
  }

  /** Runs `work` in one transaction; anything thrown rolls it back. */
  async transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw databaseError(error);
    });
    try {
      await client.query('BEGIN');
      const result = await work({
        auditKey: this.auditKey,
        query: async <Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]) =>
          (await client.query<Row>({ ...statement, values })).rows,
      });
      await client.query('COMMIT');
      client.release();
      return result;
    } catch (error) {
      // Ends the connection, and with it the transaction, in whatever state either is.
      client.release(true);
      throw databaseError(error);
    }
  }

  /** Runs Prisma queries. */
  async ask<Result>(work: (prisma: PrismaClient) => Promise<Result>): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(
          new RegistryError(
            'DATABASE_UNAVAILABLE',
            `PostgreSQL did not answer within ${String(QUESTION_TIMEOUT_MS / 1000)} s.`,
          ),
        );
      }, QUESTION_TIMEOUT_MS);
    });
    try {
      return await Promise.race([work(this.prisma), late]);
    } catch (error) {
      throw databaseError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.#pool.end();
  }
}

/** PostgreSQL's classes for "not now": connection, resources, shutdown, serialisation and deadlock, and what Node says of sockets; and Prisma's own codes. */
const TRANSIENT =
  /^(08|53|57P|40001|40P01|55P03|25006|P1001|P1002|P1008|P1017|P2024|P2034)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/;
const TRANSIENT_MESSAGE =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable|connection error|connection ended unexpectedly/i;

/** Whether the same statement may succeed later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof RegistryError) return error.code === 'DATABASE_UNAVAILABLE';
  if ('code' in error && typeof error.code === 'string' && TRANSIENT.test(error.code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return TRANSIENT_MESSAGE.test(error.message);
}

export function databaseError(error: unknown): RegistryError {
  if (error instanceof RegistryError) return error;
  return isTransient(error)
    ? new RegistryError('DATABASE_UNAVAILABLE', `PostgreSQL is not available: ${messageOf(error)}`, { cause: error })
    : new RegistryError('DATABASE_REFUSED', `PostgreSQL refused a statement: ${messageOf(error)}`, { cause: error });
}
