/**
 * The upkeep of measurements: roll-ups per hour and day, and points of whole days packed. A mark
 * moves in the transaction that ends its step, so several workers and crashes do no harm.
 */
import type { Database, Queryable } from '../database/database.js';
import { sql, SqlFile } from '../database/sql-file.js';
import { packDay } from './pack-day.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Points are in memory for some seconds before they are written. */
const HOUR_SETTLED_MS = 120_000;
const DAY_SETTLED_MS = 900_000;
/** Steps of one run. The next run goes on. */
const STEPS_MAX = 48;
/** One worker at a time, and none during a backup. */
export const UPKEEP_LOCK = 4_607_182_423;

const SPAN = { from: sql.timestamp, until: sql.timestamp };
const ROLL_UP_HOUR = new SqlFile(new URL('./roll-up-hour.sql', import.meta.url), { parameters: SPAN, row: {} });
const ROLL_UP_DAY = new SqlFile(new URL('./roll-up-day.sql', import.meta.url), { parameters: SPAN, row: {} });

/** Times up to which roll-ups are made and days are packed, ms since the Unix epoch. */
export interface Progress {
  readonly hoursUntil: number;
  readonly packedUntil: number;
}

export interface UpkeepDone {
  readonly hours: number;
  readonly days: number;
}

/** Makes what is due at `now`. */
export async function keepUp(
  database: Pick<Database, 'transaction'>,
  now: number,
  pointsPerPart?: number,
): Promise<UpkeepDone> {
  const done = { hours: 0, days: 0 };
  for (let step = 0; step < STEPS_MAX; step++) {
    const made = await locked(database, (transaction) => oneStep(transaction, now));
    if (made === undefined) break;
    if (made === 'hours') {
      done.hours += 1;
      continue;
    }
    // Another worker may have packed it between two transactions.
    const whileDue = <Result>(work: (transaction: Queryable) => Promise<Result>) =>
      locked(database, async (transaction) =>
        (await readProgress(transaction))?.packedUntil === made.dueDay ? work(transaction) : undefined,
      );
    if (!(await packDay(whileDue, made.dueDay, pointsPerPart))) break;
    done.days += 1;
  }
  return done;
}

/** Undefined while another worker has the lock. */
function locked<Result>(
  database: Pick<Database, 'transaction'>,
  work: (transaction: Queryable) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  return database.transaction(async (transaction) => {
    const [lock] = await transaction.query<{ free: boolean }>(
      { text: 'SELECT pg_try_advisory_xact_lock($1) AS free' },
      [UPKEEP_LOCK],
    );
    return lock?.free === true ? work(transaction) : undefined;
  });
}

/** Rolls an hour up, or names the day that is to be packed by its start. */
async function oneStep(transaction: Queryable, now: number): Promise<'hours' | { dueDay: number } | undefined> {
  const progress = await beginOrRead(transaction);
  if (progress === undefined) return undefined;
  const { hoursUntil, packedUntil } = progress;
  if (hoursUntil > now) {
    // The clock was ahead, and these hours get points again. Days that are packed may stay so.
    await setHoursUntil(transaction, now - (now % HOUR_MS));
    return undefined;
  }
  if (hoursUntil + HOUR_MS + HOUR_SETTLED_MS <= now) {
    await rollUp(transaction, hoursUntil);
    return 'hours';
  }
  const dayEnd = packedUntil + DAY_MS;
  return dayEnd + DAY_SETTLED_MS > now || hoursUntil < dayEnd ? undefined : { dueDay: packedUntil };
}

async function rollUp(transaction: Queryable, at: number): Promise<void> {
  const until = at + HOUR_MS;
  await ROLL_UP_HOUR.run(transaction, { from: new Date(at), until: new Date(until) });
  if (until % DAY_MS === 0)
    await ROLL_UP_DAY.run(transaction, { from: new Date(until - DAY_MS), until: new Date(until) });
  await setHoursUntil(transaction, until);
}

async function setHoursUntil(transaction: Queryable, at: number): Promise<void> {
  await transaction.query({ text: 'UPDATE measurement_progress SET hours_until = $1' }, [new Date(at)]);
}

/** Begins with the first point; undefined before it. */
async function beginOrRead(transaction: Queryable): Promise<Progress | undefined> {
  const progress = await readProgress(transaction);
  if (progress !== undefined) return progress;
  const [first] = await transaction.query<{ at: Date | null }>({ text: 'SELECT min(at) AS at FROM measurement' }, []);
  const at = first?.at?.getTime();
  if (at === undefined) return undefined;
  const [hoursUntil, packedUntil] = [at - (at % HOUR_MS), at - (at % DAY_MS)];
  await transaction.query(
    { text: 'INSERT INTO measurement_progress (hours_until, packed_until) VALUES ($1, $2) ON CONFLICT DO NOTHING' },
    [new Date(hoursUntil), new Date(packedUntil)],
  );
  return { hoursUntil, packedUntil };
}

export async function readProgress(db: Queryable): Promise<Progress | undefined> {
  const [row] = await db.query<{ hours_until: Date; packed_until: Date }>(
    { name: 'measurement-progress', text: 'SELECT hours_until, packed_until FROM measurement_progress' },
    [],
  );
  return row && { hoursUntil: row.hours_until.getTime(), packedUntil: row.packed_until.getTime() };
}
