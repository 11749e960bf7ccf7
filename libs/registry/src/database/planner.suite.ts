/**
 * Plans of statements, as PostgreSQL makes them before a table is filled, and by statistics of a
 * moment in which a state looked empty.
 */
import path from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';
import { SqlFile } from './sql-file.js';

const BY_KEY = / (Index|Recheck) Cond: .*\b(id|device_id|listed_call_id) = (\w+\.(id|device_id|call_id)|ANY|\$1)/;
/** The key of targets begins with the job. */
const BY_END_OF_KEY = /_pkey on job_target\w* .* Cond: \(device_id = /;

/** The name of a file, and the tables that it reads by key as a pattern. It may scan others. */
export type KeyedStatement = readonly [name: string, tables: string];

export class Planner {
  private constructor(
    private readonly database: TestDatabase,
    private readonly client: pg.Client,
    private readonly values: Readonly<Record<string, string>>,
  ) {}

  /** With SQL of parameters by name; the others are NULL. */
  static async open(values: Readonly<Record<string, string>> = {}): Promise<Planner> {
    const database = await openTestDatabase();
    const client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
    return new Planner(database, client, values);
  }

  /** Pages are cached from here on: an index that looks empty then costs nothing. */
  async fill(statements: readonly string[]): Promise<void> {
    for (const text of [...statements, 'VACUUM ANALYZE', 'SET random_page_cost = 0']) await this.client.query(text);
  }

  /** Fails where a scan of one of these tables may read more rows than those of the batch. */
  async readsByKey([name, tables]: KeyedStatement): Promise<void> {
    const plan = await this.#planOf(name);
    // A lookup by the place of a row is a Tid Scan.
    const isScan = new RegExp(`(Seq|Index|Index Only|Bitmap Heap) Scan .*\\bon (${tables})(_default)? `);
    const scans = plan.flatMap((line, index) => (isScan.test(line) ? [`${line} ${plan[index + 1] ?? ''}`] : []));
    expect(scans).not.toHaveLength(0);
    expect(scans.filter((scan) => !BY_KEY.test(scan) || BY_END_OF_KEY.test(scan))).toEqual([]);
  }

  async #planOf(name: string): Promise<readonly string[]> {
    const { statement, declaration } = fileNamed(name);
    const types = Object.values(declaration.parameters).map((type) => type.name);
    const values = Object.keys(declaration.parameters).map((parameter) => this.values[parameter] ?? 'NULL');
    await this.client.query(`SET plan_cache_mode = force_${isPlanKept([name, '']) ? 'generic' : 'custom'}_plan`);
    await this.client.query(`PREPARE planned (${types.join()}) AS ${statement.text}`);
    const { rows } = await this.client.query<Record<'QUERY PLAN', string>>(
      `EXPLAIN EXECUTE planned (${values.join()})`,
    );
    await this.client.query('DEALLOCATE planned');
    return rows.map((row) => row['QUERY PLAN'].trim());
  }

  async close(): Promise<void> {
    await this.client.end();
    await this.database.close();
  }
}

/** A plan over empty tables stays in use while they fill. Others are made for each execution. */
export function isPlanKept([name]: KeyedStatement): boolean {
  return fileNamed(name).statement.name !== undefined;
}

function fileNamed(name: string) {
  const file = SqlFile.loaded.find(({ url }) => path.posix.basename(url.pathname, '.sql') === name);
  if (file === undefined) throw new Error(`No statement is named ${name}.`);
  return file;
}
