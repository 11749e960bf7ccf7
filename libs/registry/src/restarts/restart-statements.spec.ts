/** Plans that PostgreSQL made over empty tables, and keeps while a first fleet connects. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Planner } from '../database/planner.suite.js';
import type { KeyedStatement } from '../database/planner.suite.js';

const statements: readonly KeyedStatement[] = [
  ['note-boots', 'device'],
  ['judge-restarts', 'session|device_credential|call'],
];

let planner: Planner;

beforeAll(async () => {
  planner = await Planner.open();
});

afterAll(() => planner.close());

describe('a statement of restarts', () => {
  it.each(statements)('reads by key over empty tables: %s', (...statement) => planner.readsByKey(statement));
});
