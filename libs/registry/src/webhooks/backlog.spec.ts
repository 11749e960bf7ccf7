import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';

let database: TestDatabase;
let registry: Registry;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
});
afterAll(async () => {
  await registry.close();
  await database.close();
});

describe('the backlog of webhooks', () => {
  it('has the pending deliveries, the age of the oldest, and the paused webhooks', async () => {
    const { webhooks } = registry;
    const at = Date.now();
    const hook = { url: 'https://receiver.example/hook', types: ['*'], enabled: true, secret: 's' };
    const made = await webhooks.create(hook, { webhooksMax: 1, at });
    registry.events.append({ type: 'device.connected', deviceId: 'board' as DeviceId, at, data: {} });
    await expect.poll(async () => (await webhooks.backlog()).pending).toBe(1);
    await expect.poll(async () => (await webhooks.backlog()).oldestMs).toBeGreaterThan(0);
    await webhooks.pause(made?.id ?? '', 'the spec', { at });
    expect(await webhooks.backlog()).toEqual({ paused: 1, pending: 0, oldestMs: 0 });
  });
});
