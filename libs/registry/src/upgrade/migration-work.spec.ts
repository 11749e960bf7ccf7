import { describe, expect, it } from 'vitest';
import { estimateWork } from './migration-work.js';

const sizes = new Map([
  ['device', { rows: 10_000, bytes: 20e6 }],
  ['job_target', { rows: 1_000_000, bytes: 400e6 }],
]);
const workOn = (...scripts: readonly string[]) =>
  estimateWork(scripts, sizes).tables.map(({ table, work }) => [table, work]);

describe('the work of migrations', () => {
  it.each([
    ['ALTER TABLE "device" ADD COLUMN "board_facts" JSONB;', []],
    [`ALTER TABLE "device" ADD COLUMN "a" BOOLEAN NOT NULL DEFAULT false,\nADD COLUMN "b" TEXT;`, []],
    ['ALTER TABLE device ADD COLUMN s text NOT NULL GENERATED ALWAYS AS (f(name)) STORED;', [['device', ['WRITES']]]],
    ['ALTER TABLE public.device ALTER COLUMN a SET DATA TYPE bigint;', [['device', ['WRITES']]]],
    ['ALTER TABLE device ADD COLUMN a uuid DEFAULT gen_random_uuid();', [['device', ['WRITES']]]],
    ['ALTER TABLE device ALTER COLUMN a SET NOT NULL;', [['device', ['READS']]]],
    ['CREATE UNIQUE INDEX i ON "device"("name");', [['device', ['READS']]]],
    [
      'CREATE INDEX i\n  ON device (a)\n WHERE a IS NOT NULL; CREATE INDEX j ON device (b)',
      [['device', ['READS', 'READS']]],
    ],
    ["UPDATE job_target SET a = 'x; y' WHERE b;", [['job_target', ['WRITES']]]],
    ['INSERT INTO other (id) SELECT id FROM job_target;', [['job_target', ['WRITES']]]],
    ['-- UPDATE device SET a = 1;\nDROP INDEX i;', []],
    ['CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ UPDATE device SET a = 1; $$;', []],
    ['CREATE TABLE "job_target" (a int); CREATE INDEX i ON job_target (a);', []],
    ['CREATE INDEX i ON unknown_table (a);', []],
  ])('is known: %s', (sql, expected) => {
    expect(workOn(sql)).toEqual(expected);
  });

  it('takes longer on larger tables and slower disks, and is never nothing', () => {
    const index = (table: string) => estimateWork([`CREATE INDEX i ON ${table} (a);`], sizes).seconds;
    const [fast, slow] = index('job_target');
    expect(fast).toBeCloseTo(2.005);
    expect(slow).toBeCloseTo(20.05);
    expect(index('device')[0]).toBeLessThan(fast);
    const [update] = estimateWork(['UPDATE job_target SET a = 1;'], sizes).seconds;
    expect(update).toBeCloseTo(22.005);
    expect(estimateWork(['DROP INDEX i;'], sizes).seconds[0]).toBeGreaterThan(0);
  });
});
