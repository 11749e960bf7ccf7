/**
 * The connection to PostgreSQL: one pool, used by Prisma for ordinary queries and directly for SQL.
 * Both run in the same transactions. Each failure becomes a RegistryError.
 */
import type pg from 'pg';
import type { Prisma, PrismaClient } from '../generated/prisma/client.js';
import { messageOf, RegistryError } from '../registry-error.js';
import type { AuditKey } from '../audit/audit-key.js';
import type { RegistryLogger } from '../registry-logger.js';
import { closeIdle, HalfOpenConnections, limitSession, type HalfOpenLimits } from './half-open-connections.js';
import { openPool } from './open-pool.js';
import { openPrisma } from './open-prisma.js';
import { TransactionContext } from './transaction-context.js';

export interface Statement {
  /** Prepared once per connection under this name; the text must not vary. */
  readonly name?: string;
  readonly text: string;
  /** For answers that must come sooner than in a minute, ms. */
  readonly timeoutMs?: number;
}

/** A pool or a connection inside a transaction. */
export interface Queryable {
  /** The key of the audit chain; undefined: entries are chained by plain hashes. */
  readonly auditKey?: AuditKey | undefined;
  query<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<readonly Row[]>;
}

/** Runs SQL and Prisma queries on one connection. */
export interface Transaction extends Queryable {
  ask<Result>(work: (prisma: Prisma.TransactionClient) => Promise<Result>): Promise<Result>;
}

/** After this time without a free connection, PostgreSQL counts as unavailable. */
export const CONNECT_TIMEOUT_MS = 10_000;
/**
 * After this time the connection of a statement is cut. Without it a server that hangs would hold
 * the statement for 15 minutes. The longest statements, which prepare a large job, take seconds.
 */
const STATEMENT_TIMEOUT_MS = 60_000;
/**
 * A statement has no more: the protocol counts values in 16 bits, and pg sends a wrong count
 * without an error.
 */
const VALUES_MAX = 65_535;
/** The system tests an idle connection after this time. Its own default is two hours. */
const KEEP_ALIVE_MS = 30_000;
/** What uses a connection so long after the writers have ended does not matter any more. */
const CLOSE_WITHIN_MS = 5_000;
/** For small queries that a caller waits for, like all queries of Prisma outside transactions. */
export const QUESTION_TIMEOUT_MS = 5_000;

export class Database implements Transaction {
  readonly prisma: PrismaClient;
  readonly #pool: pg.Pool;
  readonly #halfOpen: HalfOpenConnections;
  /** Prisma loads its query compiler at the first query, which takes a part of a second. */
  #loaded: Promise<void> | undefined;
  /** The transaction that Prisma is to run in. */
  readonly #joined = new TransactionContext();

  constructor(
    databaseUrl: string,
    poolMax: number,
    logger: RegistryLogger,
    readonly auditKey?: AuditKey,
    halfOpen?: HalfOpenLimits,
  ) {
    const shared = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS, application_name: 'flotilla' };
    this.#pool = openPool(databaseUrl, {
      ...shared,
      max: poolMax,
      verify: limitSession,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS,
    });
    const questions = openPool(databaseUrl, {
      ...shared,
      max: 1,
      maxUses: 1,
      connectionTimeoutMillis: QUESTION_TIMEOUT_MS,
      query_timeout: QUESTION_TIMEOUT_MS,
    });
    this.#halfOpen = new HalfOpenConnections(this.#pool, questions, logger, halfOpen);
    this.#pool.on('error', (error) => {
      // The embedded server may cut connections that are about to close.
      if (this.#pool.ending) return;
      logger.warn({ message: error.message }, 'an idle PostgreSQL connection ended');
    });
    // The pool listens to idle connections only, and an unhandled error event ends the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
    this.prisma = openPrisma(this.#pool, this.#joined);
  }

  async query<Row extends pg.QueryResultRow>(
    { timeoutMs, ...statement }: Statement,
    values: unknown[],
  ): Promise<readonly Row[]> {
    refuseTooMany(values);
    try {
      const query = { ...statement, values, ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs }) };
      return (await this.#pool.query<Row>(query)).rows;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Runs `work` in one transaction; anything thrown rolls it back. */
  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    await this.#load();
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw databaseError(error);
    });
    try {
      await client.query('BEGIN');
      const result = await work({
        auditKey: this.auditKey,
        query: async <Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]) => {
          refuseTooMany(values);
          return (await client.query<Row>({ ...statement, values })).rows;
        },
        ask: (ordinary) =>
          this.#joined.during(client, () => this.prisma.$transaction(ordinary, { timeout: STATEMENT_TIMEOUT_MS })),
      });
      await client.query('COMMIT');
      client.release();
      return result;
    } catch (error) {
      // Closes the connection, which rolls back the transaction in any state.
      client.release(true);
      throw this.#failed(error);
    }
  }

  /** Runs Prisma queries, each on any connection of the pool. */
  async ask<Result>(work: (prisma: Prisma.TransactionClient) => Promise<Result>): Promise<Result> {
    await this.#load();
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
      throw this.#failed(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Loads Prisma, once. It takes seconds on a busy machine: not in a transaction, which would hold
   * its locks meanwhile, and which PostgreSQL ends after ten idle seconds.
   */
  #load(): Promise<void> {
    return (this.#loaded ??= this.prisma.$connect().catch((error: unknown) => {
      this.#loaded = undefined;
      throw databaseError(error);
    }));
  }

  /** If the server became read-only, its idle connections are closed: new ones find the primary. */
  #failed(error: unknown): RegistryError {
    if (READ_ONLY.test(messageOf(error))) closeIdle(this.#pool);
    return databaseError(error);
  }

  /** Statements that still run after `withinMs` are cut: a stop must not wait for their timeout. */
  async close(withinMs = CLOSE_WITHIN_MS): Promise<void> {
    await this.prisma.$disconnect();
    // Again and again, because a connection that is being opened is in use only later.
    const late = setInterval(() => this.#halfOpen.cut(), withinMs);
    await this.#pool.end();
    clearInterval(late);
    await this.#halfOpen.close();
  }
}

/** Only filters of callers have values without limit. Throws ARGUMENT_INVALID. */
function refuseTooMany(values: readonly unknown[]): void {
  if (values.length > VALUES_MAX)
    throw new RegistryError(
      'ARGUMENT_INVALID',
      `The filter has ${String(values.length)} values, but a query takes at most ${String(VALUES_MAX)}.`,
    );
}

/** Codes of failures that may pass: of PostgreSQL by class, of Prisma, and of sockets in Node. */
const TRANSIENT = new RegExp(
  '^(08|53|57P|40001|40P01|55P03|25006|25P03|P1001|P1002|P1008|P1017|P2024|P2034)|' +
    '^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)',
);
/** Prisma has this error of a former primary (25006) without its code. */
const READ_ONLY = /in a read-only transaction/;
const TRANSIENT_MESSAGE = new RegExp(
  'connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable|' +
    `connection error|connection ended unexpectedly|${READ_ONLY.source}`,
  'i',
);

/** Whether the same statement may succeed later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof RegistryError) return error.code === 'DATABASE_UNAVAILABLE';
  if (codesOf(error).some((code) => TRANSIENT.test(code))) return true;
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return TRANSIENT_MESSAGE.test(error.message);
}

/** PostgreSQL's codes for values that it cannot store: wrong ones (22), and too large ones (54). */
const BAD_VALUES = /^(22|54)/;

/** Whether PostgreSQL refused the values of a statement, so that it always will. */
export function rejectsValues(error: unknown): boolean {
  if (!(error instanceof RegistryError && error.code === 'DATABASE_REFUSED')) return false;
  return error.cause instanceof Error && codesOf(error.cause).some((code) => BAD_VALUES.test(code));
}

/** The code of an error, and PostgreSQL's inside of what Prisma reports as P2039. */
function codesOf(error: Error): readonly string[] {
  const { code, meta } = error as { readonly code?: unknown; readonly meta?: unknown };
  const inside = (meta as { driverAdapterError?: { cause?: { originalCode?: unknown } } } | undefined)
    ?.driverAdapterError?.cause?.originalCode;
  return [code, inside].filter((value) => typeof value === 'string');
}

export function databaseError(error: unknown): RegistryError {
  if (error instanceof RegistryError) return error;
  return isTransient(error)
    ? new RegistryError('DATABASE_UNAVAILABLE', `PostgreSQL is not available: ${messageOf(error)}`, { cause: error })
    : new RegistryError('DATABASE_REFUSED', `PostgreSQL refused a statement: ${messageOf(error)}`, { cause: error });
}
