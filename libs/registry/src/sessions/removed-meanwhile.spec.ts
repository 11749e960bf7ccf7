import { afterAll, beforeAll, expect, it } from 'vitest';
import { connecting } from '../devices/device-fixture.suite.js';
import { openRegistryFixture } from '../registry-fixture.suite.js';
import type { RegistryFixture } from '../registry-fixture.suite.js';

/** Who waits for the asking connection. In a transaction, pg_stat_activity would not change. */
const WAITING = 'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))';

let fixture: RegistryFixture;

beforeAll(async () => {
  fixture = await openRegistryFixture();
});
afterAll(() => fixture.close());

/** Connects the device while its removal is not committed. */
async function connectDuringRemoval(id: string): Promise<unknown> {
  const { raw, registry } = fixture;
  await raw.query(`
    BEGIN;
    DELETE FROM device WHERE id = '${id}';
    INSERT INTO removed_device (device_id, epoch, removed_at) VALUES ('${id}', 1, now())`);
  const connected = registry.devices.connect(connecting(id));
  connected.catch(() => undefined);
  await expect.poll(async () => (await raw.query(WAITING)).rowCount).toBe(1);
  await raw.query('COMMIT');
  return connected;
}

it.each([
  ['whose first session was removed before', 'long-known', true],
  ['that has not connected before', 'registered', false],
])('a device %s does not come back if it is removed while it connects', async (_which, id, hasConnected) => {
  const { raw, registry } = fixture;
  await raw.query(`INSERT INTO device (id, dialect, reachability) VALUES ('${id}', 'XIAOZHI', 'ALWAYS')`);
  if (hasConnected) await registry.devices.connect(connecting(id));
  // As the retention of old sessions does.
  await raw.query(`DELETE FROM session WHERE device_id = '${id}'`);
  await expect(connectDuringRemoval(id)).rejects.toMatchObject({ code: 'DATABASE_REFUSED' });
  expect(await registry.devices.find(id)).toBeUndefined();
  // The session writes again, and learns that its device was removed.
  expect(await registry.devices.connect(connecting(id))).toMatchObject({ epoch: 2 });
  expect(await registry.devices.find(id)).toBeUndefined();
  expect((await registry.devices.sessions([id], 1))[0] ?? []).toEqual([]);
});
