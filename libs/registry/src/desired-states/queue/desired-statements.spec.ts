/**
 * Plans of the worker's statements that PostgreSQL made over empty tables, and while all devices
 * were in sync, as before an edit.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Planner } from '../../database/planner.suite.js';
import type { KeyedStatement } from '../../database/planner.suite.js';

const STATE = `'00000000-0000-7000-8000-000000000001'`;
const statements: readonly KeyedStatement[] = [
  ['write-targets', 'desired_state_target'],
  ['claim-sets', 'desired_state_target'],
];

let planner: Planner;

beforeAll(async () => {
  planner = await Planner.open();
});

afterAll(() => planner.close());

describe('a statement of the worker', () => {
  it.each(statements)('reads by key over empty tables: %s', (...statement) => planner.readsByKey(statement));

  describe('while all devices are in sync', () => {
    beforeAll(async () => {
      await planner.fill([
        `INSERT INTO desired_state_target (desired_state_id, device_id, state, since, observed_generation)
         SELECT ${STATE}, 'device-' || n, 'IN_SYNC', now(), 1 FROM generate_series(1, 5000) n`,
        // The index of entries out of sync then looks empty, and cheap where pages are cached.
        `UPDATE desired_state_target SET state = 'APPLYING'`,
        `UPDATE desired_state_target SET state = 'IN_SYNC'`,
      ]);
    });

    it.each(statements)('reads by key: %s', (...statement) => planner.readsByKey(statement));
  });
});
