import pg from 'pg';
import { openRegistry } from './open-registry.js';
import type { Registry } from './registry.js';
import { openTestDatabase } from './test-database.js';

/** An open registry on a fresh database, and a connection past it. */
export interface RegistryFixture {
  readonly databaseUrl: string;
  readonly registry: Registry;
  readonly raw: pg.Client;
  close(): Promise<void>;
}

export async function openRegistryFixture(): Promise<RegistryFixture> {
  const database = await openTestDatabase();
  const { databaseUrl } = database;
  const registry = await openRegistry({ databaseUrl });
  const raw = new pg.Client({ connectionString: databaseUrl });
  await raw.connect();
  return {
    databaseUrl,
    registry,
    raw,
    close: async () => {
      await raw.end();
      await registry.close();
      await database.close();
    },
  };
}
