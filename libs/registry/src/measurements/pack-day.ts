/**
 * Packs the points of one day: one row per series. A row per point costs 90 bytes with its indexes,
 * a packed point 7 to 20. Packs are written to a table that no chart reads, some devices at a time.
 * It becomes a partition when that of the points is detached, so charts have each point once. No
 * point can be added to a detached table, so those that the packs do not have yet are found there.
 */
import type { Queryable } from '../database/database.js';
import { attachPartition, lockPartitions, partitionOn, type Partition } from '../database/partitions.js';

/** Points of one statement: some seconds. Each reads all pages of the day. */
const POINTS_PER_PART = 3_000_000;
/** The highest number that a device can have. */
const DEVICE_MAX = 2_147_483_647;

/** Runs `work` in a transaction, unless another worker packs: then undefined. */
type WhileDue = <Result>(work: (transaction: Queryable) => Promise<Result>) => Promise<Result | undefined>;

interface Day {
  readonly pack: Partition;
  /** The partition of its points. After the replacement it is a detached table. */
  readonly points: string;
  readonly span: readonly [from: Date, until: Date];
}

/** Of the day that begins at `at`. Goes on after a crash. False if another worker packs. */
export async function packDay(whileDue: WhileDue, at: number, pointsPerPart = POINTS_PER_PART): Promise<boolean> {
  const pack = partitionOn('measurement_pack', at);
  const points = partitionOn('measurement', at).name;
  const day: Day = { pack, points, span: [new Date(pack.from), new Date(pack.until)] };
  const packed = await whileDue((transaction) => begin(transaction, day));
  const walk = { whileDue, day, pointsPerPart };
  if (packed === undefined || !(await packParts(walk, packed, ''))) return false;
  if ((await whileDue((transaction) => replacePoints(transaction, day))) === undefined) return false;
  const isComplete = await whileDue((transaction) => hasAllPoints(transaction, day));
  if (isComplete === undefined || (!isComplete && !(await packParts(walk, 0, isLate(day))))) return false;
  return (await whileDue((transaction) => dropPoints(transaction, day))) === true;
}

interface Walk {
  readonly whileDue: WhileDue;
  readonly day: Day;
  readonly pointsPerPart: number;
}

/** Packs the devices after `packed`, by a further condition. False if another worker packs. */
async function packParts(walk: Walk, packed: number, condition: string): Promise<boolean> {
  let last: number | undefined = packed;
  while (last !== undefined && last < DEVICE_MAX) last = await packPart(walk, last, condition);
  return last !== undefined;
}

/** Resolves to the last device of the part. */
function packPart({ whileDue, day, pointsPerPart }: Walk, after: number, condition: string) {
  return whileDue(async (transaction) => {
    const last = await lastOfPart(transaction, day, { after, pointsPerPart });
    // Another worker may have replaced the points since.
    const source = (await isPartition(transaction, day.pack.name)) ? day.points : 'measurement';
    await transaction.query({ text: packing(day.pack, source, condition) }, [...day.span, after, last]);
    return last;
  });
}

/** Resolves to the last device that an interrupted run packed, or 0. DDL takes no parameters. */
async function begin(transaction: Queryable, { pack: { name }, points, span: [from] }: Day): Promise<number> {
  // PostgreSQL need not read the rows for the bounds of a partition if a constraint ensures them.
  const constraint = `CHECK (at = '${from.toISOString()}')`;
  const text = `CREATE TABLE IF NOT EXISTS ${name} (LIKE measurement_pack INCLUDING ALL, ${constraint})`;
  await transaction.query({ text }, []);
  // All points of a day without a partition are in the default one.
  await transaction.query({ text: `CREATE TABLE IF NOT EXISTS ${points} (LIKE measurement INCLUDING ALL)` }, []);
  const [row] = await transaction.query<{ last: number | null }>(
    { text: `SELECT max(device_id) AS last FROM ${name}` },
    [],
  );
  return row?.last ?? 0;
}

/** The last device of a part. The last part has no bound: a device may have late points only. */
async function lastOfPart(
  transaction: Queryable,
  { span: [from] }: Day,
  { after, pointsPerPart }: { readonly after: number; readonly pointsPerPart: number },
): Promise<number> {
  const [row] = await transaction.query<{ last: number | null }>(
    {
      text: `SELECT min(device_id) FILTER (WHERE points >= $3::bigint) AS last
             FROM (SELECT device_id, sum(sum(count)) OVER (ORDER BY device_id) AS points
                   FROM measurement_day WHERE at = $1 AND device_id > $2 GROUP BY device_id) d`,
    },
    [from, after, pointsPerPart],
  );
  return row?.last ?? DEVICE_MAX;
}

async function isPartition(transaction: Queryable, name: string): Promise<boolean> {
  const [row] = await transaction.query<{ relispartition: boolean }>(
    { text: 'SELECT relispartition FROM pg_class WHERE oid = to_regclass($1)' },
    [name],
  );
  return row?.relispartition === true;
}

/** False if points came after the part of their device, as after an outage of PostgreSQL. */
async function hasAllPoints(transaction: Queryable, { pack, points }: Day): Promise<boolean> {
  const [row] = await transaction.query<{ is_complete: boolean }>(
    {
      text: `SELECT (SELECT count(*) FROM ${points})
               = (SELECT coalesce(sum(cardinality(offsets)), 0) FROM ${pack.name}) AS is_complete`,
    },
    [],
  );
  return row?.is_complete === true;
}

/** Series with points that their packs do not have. */
function isLate({ pack: { name }, points }: Day): string {
  return `AND (device_id, path_id) IN (
    SELECT c.device_id, c.path_id FROM (SELECT device_id, path_id, count(*) AS points FROM ${points}
      WHERE at >= $1 AND at < $2 AND device_id > $3 AND device_id <= $4 GROUP BY device_id, path_id) c
    LEFT JOIN ${name} k USING (device_id, path_id) WHERE cardinality(k.offsets) IS DISTINCT FROM c.points)`;
}

/** Of the day $1 to $2 and devices after $3 up to $4. A repeated run replaces its rows. */
function packing({ name }: Partition, source: string, condition: string): string {
  return `INSERT INTO ${name} (at, device_id, path_id, offsets, values)
    SELECT $1::timestamptz, device_id, path_id,
      array_agg((extract(epoch FROM at - $1) * 1000)::int ORDER BY at), array_agg(value ORDER BY at)
    FROM ${source} WHERE at >= $1 AND at < $2 AND device_id > $3 AND device_id <= $4 ${condition}
    GROUP BY device_id, path_id ORDER BY device_id, path_id
    ON CONFLICT (device_id, path_id, at) DO UPDATE SET offsets = excluded.offsets, values = excluded.values`;
}

/** Charts wait for it, so its statements are short. Later points go to the default partition. */
async function replacePoints(transaction: Queryable, { pack, points, span }: Day): Promise<true> {
  await lockPartitions(transaction);
  if (await isPartition(transaction, pack.name)) return true;
  // In the order of charts, which read points and then packs: otherwise both could wait for ever.
  await transaction.query({ text: 'LOCK TABLE ONLY measurement IN ACCESS EXCLUSIVE MODE' }, []);
  await attachPartition(transaction, pack);
  if (await isPartition(transaction, points))
    await transaction.query({ text: `ALTER TABLE measurement DETACH PARTITION ${points}` }, []);
  await transaction.query(
    {
      text: `WITH moved AS (DELETE FROM measurement_default WHERE at >= $1 AND at < $2 RETURNING *)
             INSERT INTO ${points} (at, value, device_id, path_id)
             SELECT at, value, device_id, path_id FROM moved ON CONFLICT DO NOTHING`,
    },
    [...span],
  );
  return true;
}

async function dropPoints(transaction: Queryable, { points, span }: Day): Promise<true> {
  await transaction.query({ text: `DROP TABLE IF EXISTS ${points}` }, []);
  await transaction.query({ text: 'UPDATE measurement_progress SET packed_until = $1' }, [span[1]]);
  return true;
}
