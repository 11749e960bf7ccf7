import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BusHarness } from './bus-harness.suite.js';
import type { Bus } from './bus.js';
import { describeCallRouter } from './calls/call-router.suite.js';
import { describeDirectory } from './directory/directory.suite.js';
import { describeFeed } from './feed/feed.suite.js';
import { openLocalBus } from './local-bus.js';
import { describeTickQueue } from './ticks/tick-queue.suite.js';

const silent = { warn: () => undefined, error: () => undefined };
const serverUrl = process.env['FLOTILLA_TEST_POSTGRES'];

async function makeDatabase(): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const name = `bus_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name}`);
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`DROP DATABASE ${name} WITH (FORCE)`) };
}

describe('local bus', () => {
  let database: Awaited<ReturnType<typeof makeDatabase>> | undefined;
  let bus: Bus | undefined;

  beforeAll(async () => {
    database = await makeDatabase();
    bus = await openLocalBus({ databaseUrl: database.url, logger: silent });
  });

  afterAll(async () => {
    await bus?.close();
    await database?.drop();
  });

  const harness: BusHarness = {
    name: 'in process, queue on PostgreSQL',
    buses: () => {
      if (bus === undefined) throw new TypeError('The bus was not opened.');
      return { here: bus, there: bus };
    },
  };
  describeDirectory(harness);
  describeCallRouter(harness);
  describeFeed(harness);
  describeTickQueue(harness);

  it('looks a device up without a promise, because every call needs a lookup', () => {
    expect(bus?.directory.lookup('unknown' as never)).toBeUndefined();
  });
});

describe('openLocalBus', () => {
  it('reports that PostgreSQL does not answer', async () => {
    const opened = openLocalBus({ databaseUrl: 'postgres://unknown@127.0.0.1:1/none', logger: silent });
    await expect(opened).rejects.toMatchObject({ name: 'BusError', code: 'BUS_UNAVAILABLE' });
  });
});

describe('a local bus that is closed while a tick never ends', () => {
  it('leaves nothing that would keep the process alive', async () => {
    const database = await makeDatabase();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const bus = await openLocalBus({ databaseUrl: database.url, logger: silent });
    const working = new Promise<void>((resolve) => {
      void bus.ticks.work(() => {
        resolve();
        return new Promise(() => undefined);
      }, 1);
    });
    await bus.ticks.add({ kind: 'sweep' });
    await working;
    await bus.close();
    expect(timers()).toBeLessThanOrEqual(before);
    await database.drop();
  });
});

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}
