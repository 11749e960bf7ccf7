import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';

const BREAKER = { failures: 3, pauseMs: 1_000, pauseMsMax: 1_000 };
const PER_WEBHOOK = 4;

let database: TestDatabase;
let processes: readonly Registry[];

beforeAll(async () => {
  database = await openTestDatabase();
  const open = () => openRegistry({ databaseUrl: database.databaseUrl });
  processes = [await open(), await open(), await open()];
});
afterAll(async () => {
  for (const registry of processes) await registry.close();
  await database.close();
});

it('gives all processes together no more of one webhook than it may have in flight', async () => {
  const [{ events, webhooks }] = processes as readonly [Registry];
  const at = Date.now();
  const hook = { url: 'https://receiver.example/hook', types: ['*'], enabled: true, secret: 's' };
  await webhooks.create(hook, { webhooksMax: 1, at });
  for (let index = 0; index < 60; index += 1)
    events.append({ type: 'device.connected', deviceId: `board-${index}` as DeviceId, at, data: {} });
  await expect.poll(async () => (await webhooks.backlog()).pending).toBe(60);
  for (let round = 0; round < 10; round += 1) {
    const claimed = await Promise.all(
      processes.map((registry) =>
        registry.webhooks.claim({ limit: 10, perWebhook: PER_WEBHOOK, claimMs: 60_000, breaker: BREAKER }),
      ),
    );
    expect(claimed.flat()).toHaveLength(PER_WEBHOOK);
    for (const pending of claimed.flat()) await webhooks.release(pending);
  }
});
