/**
 * Plans of session statements that PostgreSQL made over empty tables, as for the first fleet, and
 * while no device was connected, as before a fleet comes back.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Planner } from '../database/planner.suite.js';
import type { KeyedStatement } from '../database/planner.suite.js';

const statements: readonly KeyedStatement[] = [
  ['connect-sessions', 'device|session|tool_set_use'],
  ['ready-sessions', 'device|session|tool_set_use'],
  ['close-sessions', 'device|session'],
  ['report-states', 'device'],
];

let planner: Planner;

beforeAll(async () => {
  planner = await Planner.open();
});

afterAll(() => planner.close());

describe('a session statement', () => {
  it.each(statements)('reads by key over empty tables: %s', (...statement) => planner.readsByKey(statement));

  describe('while all devices are away', () => {
    beforeAll(async () => {
      await planner.fill([
        `INSERT INTO device (id, dialect, reachability)
         SELECT 'away-' || n, 'XIAOZHI', 'ALWAYS' FROM generate_series(1, 3000) n`,
        `INSERT INTO session (device_id, epoch, transport, connected_at, disconnected_at)
         SELECT 'away-' || n, e, 'MQTT', now(), now() FROM generate_series(1, 3000) n, generate_series(1, 3) e`,
        `INSERT INTO tool_set_use (device_id, tool_set_hash, firmware_version, first_seen_at, last_seen_at)
         SELECT 'away-' || n, 'hash', '1.0.0', now(), now() FROM generate_series(1, 3000) n`,
      ]);
    });

    it.each(statements)('reads by key: %s', (...statement) => planner.readsByKey(statement));
  });
});
