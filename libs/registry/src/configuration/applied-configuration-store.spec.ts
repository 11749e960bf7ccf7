import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import { openTestDatabase, type TestDatabase } from '../test-database.js';
import { AppliedConfigurationStore } from './applied-configuration-store.js';
import type { AppliedRecord } from './applied-configuration.js';

const wifi = { fromEnv: 'WIFI' };

describe('what an apply remembers of secrets', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    testDatabase = await openTestDatabase();
    database = new Database(testDatabase.databaseUrl, 1, silentLogger);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.close();
  });

  it.each<readonly [NonNullable<AppliedRecord['fields']>, unknown]>([
    [
      { tool: 'self.wifi.join', arguments: { ssid: 'Lobby', password: 'hunter2' } },
      { tool: 'self.wifi.join', arguments: { ssid: 'Lobby', password: '***' } },
    ],
    [
      { tool: 'self.wifi.join', arguments: { password: wifi, nested: [{ token: wifi, level: 3 }] } },
      { tool: 'self.wifi.join', arguments: { password: wifi, nested: [{ token: wifi, level: 3 }] } },
    ],
    // The hub shows one mask for the whole of it.
    [{ arguments: { tokens: ['a', wifi], level: 3 } }, { arguments: { tokens: '***', level: 3 } }],
    [{ arguments: { password: { ...wifi, value: 'a' } } }, { arguments: { password: '***' } }],
    [
      { tool: 'gpio_write', arguments: { pin: 4 } },
      { tool: 'gpio_write', arguments: { pin: 4 } },
    ],
    [
      { tool: 'gpio_write', arguments: { wiring: { pin: 4 } } },
      { tool: 'gpio_write', arguments: { wiring: { pin: '***' } } },
    ],
    [{ job: { tool: 'gpio_write', arguments: { pin: 4 } } }, { job: { tool: 'gpio_write', arguments: { pin: 4 } } }],
    [
      { job: { tool: 'self.door.open', arguments: { tool: 'gpio_write', pin: 1234 } } },
      { job: { tool: 'self.door.open', arguments: { tool: 'gpio_write', pin: '***' } } },
    ],
    [{ config: { url: wifi, token: wifi } }, { config: { url: wifi, token: wifi } }],
  ])('stores %j as %j', async (fields, stored) => {
    const [change, thing] = [
      { rowsMax: 10, at: 0, by: { actor: 'deploy' } },
      { kind: 'Kind', name: 'x' },
    ];
    const store = new AppliedConfigurationStore(database);
    const shown = async () => (await store.page({ first: 10 })).rows.map((row) => row.fields);
    const answer = await store.record([{ ...thing, fields, revision: undefined }], change);
    expect(answer).toMatchObject({ kind: 'recorded', rows: [{ fields: stored }] });
    expect(await shown()).toEqual([stored]);
    // As a former version stored it.
    await database.query({ text: 'UPDATE applied_configuration SET fields = $1' }, [JSON.stringify(fields)]);
    expect(await shown()).toEqual([stored]);
    await store.record([{ ...thing, fields: undefined, revision: 1 }], change);
  });
});
