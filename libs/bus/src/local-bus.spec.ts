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

describe('local bus', () => {
  const databaseName = `bus_${randomUUID().replaceAll('-', '')}`;
  let bus: Bus | undefined;

  beforeAll(async () => {
    await onServer(`CREATE DATABASE ${databaseName}`);
    const databaseUrl = new URL(serverUrl ?? '');
    databaseUrl.pathname = `/${databaseName}`;
    bus = await openLocalBus({ databaseUrl: databaseUrl.href, logger: silent });
  });

  afterAll(async () => {
    await bus?.close();
    await onServer(`DROP DATABASE ${databaseName} WITH (FORCE)`);
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

  it('looks a device up without a promise, because every call pays for it', () => {
    expect(bus?.directory.lookup('nobody' as never)).toBeUndefined();
  });
});

describe('openLocalBus', () => {
  it('says that PostgreSQL does not answer', async () => {
    const opened = openLocalBus({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', logger: silent });
    await expect(opened).rejects.toMatchObject({ name: 'BusError', code: 'BUS_UNAVAILABLE' });
  });
});

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}
