/**
 * An unhandled error event of a connection is an uncaught exception, which fails the whole file.
 */
import net from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { Database, rejectsValues } from './database.js';

let test: TestDatabase;
/** To PostgreSQL, and to be cut. */
let way: net.Server;
let database: Database;
const ends = new Set<Socket>();

beforeAll(async () => {
  test = await openTestDatabase();
  const { hostname, port } = new URL(test.databaseUrl);
  way = net.createServer((near) => {
    const far = net.connect(Number(port || 5_432), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  const url = new URL(test.databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((way.address() as AddressInfo).port);
  database = new Database(url.href, 2, silentLogger, undefined, { everyMs: 50, checks: 5 });
});
afterAll(async () => {
  await database.close();
  way.close();
  await test.close();
});

const cut = () => {
  for (const end of ends) end.destroy();
  ends.clear();
};

describe('a transaction whose connection is cut', () => {
  it.each([
    [
      'during a statement',
      async (run: (text: string) => Promise<unknown>) => {
        setTimeout(cut, 100);
        await run('SELECT pg_sleep(30)');
      },
    ],
    [
      'between two statements',
      async (run: (text: string) => Promise<unknown>) => {
        await run('SELECT 1');
        cut();
        await new Promise((resolve) => setTimeout(resolve, 200));
        await run('SELECT 1');
      },
    ],
  ])('%s fails, and nothing else does', async (_when, work) => {
    const begun = database.transaction((transaction) => work((text) => transaction.query({ text }, [])));
    await expect(begun).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(await database.query({ text: 'SELECT 1 AS one' }, [])).toEqual([{ one: 1 }]);
  });
});

/** Nothing passes any more on the present ways, and neither end learns of it. */
const freeze = () => {
  for (const end of ends) end.unpipe().pause();
};

describe('connections that were cut without notice', () => {
  it('fail soon, and the next statement succeeds', async () => {
    const begun = database.transaction(async (transaction) => {
      await transaction.query({ text: 'SELECT 1' }, []);
      freeze();
      await transaction.query({ text: 'SELECT 1' }, []);
    });
    await expect(begun).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(await database.query({ text: 'SELECT 1 AS one' }, [])).toEqual([{ one: 1 }]);
  });

  it('are not confused with slow statements', async () => {
    expect(await database.query({ text: 'SELECT pg_sleep(1), 1 AS one' }, [])).toMatchObject([{ one: 1 }]);
  });

  it('hold no locks for long', async () => {
    const text = 'SHOW idle_in_transaction_session_timeout';
    expect(await database.query({ text }, [])).toEqual([{ idle_in_transaction_session_timeout: '10s' }]);
  });
});

it('cuts statements that hang when it closes', async () => {
  const closing = new Database(test.databaseUrl, 2, silentLogger);
  const hanging = closing.query({ text: 'SELECT pg_sleep(30)' }, []).catch((error: unknown) => error);
  const work = closing.transaction((transaction) => transaction.query({ text: 'SELECT pg_sleep(30)' }, []));
  const failed = work.catch((error: unknown) => error);
  await closing.close(100);
  expect(await hanging).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  expect(await failed).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
});

describe('a transaction', () => {
  const add = (pattern: string) => ({
    pattern,
    idempotent: true,
    disruptive: false,
    disconnectExpected: false,
    callTimeoutMs: 1_000,
  });
  const count = (pattern: string) => ({
    statement: { text: 'SELECT count(*)::int AS count FROM tool_policy WHERE pattern = $1' },
    values: [pattern],
  });

  it('runs SQL and Prisma on one connection, and commits both', async () => {
    const { statement, values } = count('joined');
    const seen = await database.transaction(async (transaction) => {
      const { pattern } = await transaction.ask((prisma) => prisma.toolPolicy.create({ data: add('joined') }));
      const outside = await database.ask((prisma) => prisma.toolPolicy.count({ where: { pattern } }));
      return [await transaction.query(statement, values), outside];
    });
    expect(seen).toEqual([[{ count: 1 }], 0]);
    expect(await database.query(statement, values)).toEqual([{ count: 1 }]);
  });

  it('rolls back what Prisma wrote, and returns the connection', async () => {
    const { statement, values } = count('undone');
    for (let round = 0; round < 3; round++) {
      const begun = database.transaction(async (transaction) => {
        await transaction.ask((prisma) => prisma.toolPolicy.create({ data: add('undone') }));
        await transaction.ask((prisma) => prisma.toolPolicy.create({ data: add('undone') }));
      });
      await expect(begun).rejects.toMatchObject({ code: 'DATABASE_REFUSED' });
    }
    expect(await database.query(statement, values)).toEqual([{ count: 0 }]);
  });

  it('reports a connection that is cut under Prisma as unavailable', async () => {
    const begun = database.transaction(async (transaction) => {
      cut();
      await transaction.ask((prisma) => prisma.toolPolicy.count());
    });
    await expect(begun).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(await database.ask((prisma) => prisma.toolPolicy.count({ where: { pattern: '*' } }))).toBe(1);
  });
});

describe('a failure that may pass, such as a full disk', () => {
  it('is reported as unavailable, whether SQL or Prisma met it', async () => {
    await database.query(
      {
        text: `CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql
          AS $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$`,
      },
      [],
    );
    await database.query(
      { text: 'CREATE TRIGGER full_disk BEFORE INSERT ON tool_policy EXECUTE FUNCTION disk_is_full()' },
      [],
    );
    const asSql = database.query({ text: `INSERT INTO tool_policy (pattern) VALUES ('full')` }, []);
    await expect(asSql).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    const data = { pattern: 'full', idempotent: true, disruptive: false, disconnectExpected: false };
    const row = { ...data, callTimeoutMs: 1_000 };
    const asPrisma = database.ask((prisma) => prisma.toolPolicy.createMany({ data: row }));
    await expect(asPrisma).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });
});

describe('a refused statement', () => {
  const refusalOf = (text: string, values: unknown[] = []) =>
    database.query({ text }, values).catch((error: unknown) => error);

  it('is known by values that PostgreSQL cannot store', async () => {
    expect(rejectsValues(await refusalOf('SELECT $1::jsonb', ['"\\u0000"']))).toBe(true);
    await database.query({ text: 'CREATE TABLE named (name text PRIMARY KEY)' }, []);
    const long = `INSERT INTO named SELECT string_agg(md5(n::text), '') FROM generate_series(1, 1000) n`;
    expect(rejectsValues(await refusalOf(long))).toBe(true);
  });

  it('may fail for other reasons, such as a timeout', async () => {
    expect(rejectsValues(await refusalOf('SELECT nothing'))).toBe(false);
    const late = `DO $$ BEGIN RAISE EXCEPTION 'canceling statement' USING ERRCODE = '57014'; END $$`;
    expect(rejectsValues(await refusalOf(late))).toBe(false);
  });
});

it('refuses more values than the protocol can count, and keeps its connections', async () => {
  const statement = { text: 'SELECT 1 AS one' };
  const refusal = { code: 'ARGUMENT_INVALID', message: expect.stringContaining('65535') };
  const values = Array.from({ length: 65_536 }, () => 'a');
  await expect(database.query(statement, values)).rejects.toMatchObject(refusal);
  await expect(database.transaction(({ query }) => query(statement, values))).rejects.toMatchObject(refusal);
  expect(await database.query(statement, [])).toEqual([{ one: 1 }]);
});
