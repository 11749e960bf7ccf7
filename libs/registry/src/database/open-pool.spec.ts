import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { Database } from './database.js';
import { openPool } from './open-pool.js';

let test: TestDatabase;
/** Accepts connections and says nothing. */
let silent: Server;
const admin = async (sql: string): Promise<void> => {
  const writing = '-c default_transaction_read_only=off';
  const client = new pg.Client({ connectionString: test.databaseUrl, options: writing });
  await client.connect();
  await client.query(sql);
  await client.end();
};

beforeAll(async () => {
  test = await openTestDatabase();
  silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  silent.close();
  await test.close();
});

const nameOf = (): string => new URL(test.databaseUrl).pathname.slice(1);
/** The URL of the test's server behind other hosts. */
function urlBehind(...hosts: readonly string[]): string {
  const { host } = new URL(test.databaseUrl);
  return test.databaseUrl.replace(`@${host}/`, `@${[...hosts, host].join(',')}/`);
}

describe('a pool over several hosts', () => {
  it('passes hosts that are gone or silent', async () => {
    const { port } = silent.address() as AddressInfo;
    const pool = openPool(urlBehind('127.0.0.1:1', `127.0.0.1:${port}`), { max: 2 });
    const { rows } = await pool.query<{ one: number }>('SELECT 1 AS one');
    expect(rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('refuses a server that is read-only, and names each host with its reason', async () => {
    await admin(`ALTER DATABASE ${nameOf()} SET default_transaction_read_only = on`);
    const pool = openPool(urlBehind('127.0.0.1:1'), { max: 2 });
    await expect(pool.query('SELECT 1')).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/127\.0\.0\.1:1: .*ECONNREFUSED.*: it is read-only/) as string,
    });
    await pool.end();
    await admin(`ALTER DATABASE ${nameOf()} RESET ALL`);
  });

  it('drops the connections to a server that became read-only', async () => {
    const database = new Database(urlBehind('127.0.0.1:1'), 4, silentLogger);
    const write = () => database.query({ text: 'CREATE TABLE IF NOT EXISTS written (id int)' }, []);
    const away = { code: 'DATABASE_UNAVAILABLE' };
    // Four connections that are read-only for their whole life, as of a primary that was fenced.
    const sessions = Array.from({ length: 4 }, () =>
      database.query({ text: `SELECT set_config('default_transaction_read_only', 'on', false), pg_sleep(0.2)` }, []),
    );
    await Promise.all(sessions);
    await expect(write()).rejects.toMatchObject(away);
    await write();
    await database.close();
  });
});
