import type { DeviceId } from '@flotilla/mcp';
import { expect, it } from 'vitest';
import { Database } from '../database/database.js';
import { silentLogger } from '../registry-logger.js';
import { SessionWriter } from './session-writer.js';

const CLOSE_WITHIN_MS = 300;

it('gives up the rows of all its writers at one time, however many wait for PostgreSQL', async () => {
  // No server listens there.
  const database = new Database('postgres://127.0.0.1:1/away', 2, silentLogger);
  const writer = new SessionWriter(database, () => undefined, silentLogger);
  const session = { deviceId: 'd' as DeviceId, epoch: 1, at: 0 };
  const rows = [
    writer.reported.add({ ...session, tool: 't', state: {} }),
    writer.closed.add({ ...session, reason: 'device_closed' }),
    writer.connecting.add({
      deviceId: session.deviceId,
      dialect: 'XIAOZHI',
      transport: 'MQTT',
      reachability: 'ALWAYS',
      remoteAddress: undefined,
      connectedAt: 0,
    }),
  ];
  const results = Promise.allSettled(rows);
  const began = Date.now();
  await writer.close(began + CLOSE_WITHIN_MS);
  expect(Date.now() - began).toBeLessThan(10 * CLOSE_WITHIN_MS);
  for (const result of await results) expect(result).toMatchObject({ reason: { code: 'DATABASE_UNAVAILABLE' } });
  await database.close();
});
