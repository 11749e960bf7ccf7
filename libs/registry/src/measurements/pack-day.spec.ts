/** A day is packed while charts are read, and by a run that is cut in the middle. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database, type Statement } from '../database/database.js';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';
import { silentLogger } from '../registry-logger.js';
import { keepUp } from './measurement-upkeep.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Math.floor(Date.now() / DAY) * DAY - 2 * DAY;
const PATH = 'samples:a';
const DEVICES = ['d1', 'd2', 'd3', 'd4'];

let fixture: RegistryFixture;
let database: Database;
let day = START - DAY;

/** Each spec has its own day, with the points of four devices. */
beforeAll(async () => {
  fixture = await openRegistryFixture();
  database = new Database(fixture.databaseUrl, 4, silentLogger);
});
beforeEach(async () => {
  day += DAY;
  await fixture.registry.makePartitions(day);
  await store(...DEVICES.flatMap((deviceId) => [0, 1, 2].map((n) => ({ deviceId, at: n * MINUTE, value: n }))));
});
afterAll(async () => {
  await database.close();
  await fixture.close();
});

const rowsOf = async (text: string) => (await fixture.raw.query<Record<string, unknown>>(text)).rows;

async function store(...points: readonly { readonly deviceId: string; readonly at: number; readonly value: number }[]) {
  const before = (await rowsOf('SELECT FROM measurement')).length;
  const { measurements } = fixture.registry;
  for (const { at, ...point } of points) measurements.add({ ...point, at: day + at, path: PATH, ruleId: 'rule' });
  await expect.poll(async () => (await rowsOf('SELECT FROM measurement')).length).toBe(before + points.length);
}

/** The single points of the day, by device. */
async function chart(): Promise<Readonly<Record<string, readonly number[]>>> {
  const request = { paths: [PATH], since: day, until: day + DAY };
  const plan = { level: 'RAW' as const, stepMs: 1_000, from: day };
  const charts = DEVICES.map(async (deviceId) => {
    const [series] = await fixture.registry.measurements.series({ ...request, deviceId, plan });
    return [deviceId, (series?.points ?? []).map(({ mean }) => mean)] as const;
  });
  return Object.fromEntries(await Promise.all(charts));
}

/** A point of d1, in one statement. */
function insert(minute: number): Promise<unknown> {
  const text = `INSERT INTO measurement (at, value, device_id, path_id) SELECT $1, $2, d.id, p.id
    FROM measurement_device d, measurement_path p WHERE d.device_id = 'd1' AND p.path = $3`;
  return fixture.raw.query(text, [new Date(day + minute * MINUTE), minute, PATH]);
}

async function untilOneWaits(): Promise<void> {
  const text = `SELECT FROM pg_locks WHERE relation = 'measurement'::regclass AND NOT granted`;
  await expect.poll(() => database.query({ text }, [])).toHaveLength(1);
}

/** The server ends the transaction of a run that was cut, and its lock, a moment later. */
async function untilNoRunHasTheLock(): Promise<void> {
  const text = `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
    WHERE locktype = 'advisory' AND d.datname = current_database()`;
  await expect.poll(() => database.query({ text }, [])).toEqual([]);
}

/** Packs two devices at a time. Awaits `onPacked` after each statement that writes packs. */
function pack(onPacked: () => Promise<void>, onOther: (text: string) => Promise<void> = () => Promise.resolve()) {
  const transaction: Database['transaction'] = (work) =>
    database.transaction((inner) => {
      const query = async <Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]) => {
        const rows = await inner.query<Row>(statement, values);
        if (statement.text.includes('INSERT INTO measurement_pack')) await onPacked();
        else await onOther(statement.text);
        return rows;
      };
      return work({ ...inner, query });
    });
  return keepUp({ transaction }, day + DAY + 60 * MINUTE, 6);
}

const whole = Object.fromEntries(DEVICES.map((deviceId) => [deviceId, [0, 1, 2]]));
const packsOfDay = () =>
  rowsOf(`SELECT FROM measurement_pack WHERE at = '${new Date(day).toISOString()}'`).then(({ length }) => length);

describe('the packing of a day', () => {
  it('lets charts of single points be read in the meantime', async () => {
    const seen: unknown[] = [];
    const done = await pack(async () => {
      seen.push(await Promise.race([chart(), new Promise((resolve) => setTimeout(resolve, 5_000, 'waits'))]));
    });
    expect(seen).toEqual([whole, whole, whole]);
    expect(done.days).toBe(1);
    expect(await chart()).toEqual(whole);
    expect([await packsOfDay(), (await rowsOf('SELECT FROM measurement')).length]).toEqual([4, 0]);
  });

  it('is finished by the next run after a crash, with each point once and those that came late', async () => {
    let parts = 0;
    const cut = pack(async () => {
      if (++parts === 2) throw new TypeError('A crash.');
    });
    await expect(cut).rejects.toThrow('A crash.');
    await untilNoRunHasTheLock();
    expect(await chart()).toEqual(whole);
    await store({ deviceId: 'd1', at: 3 * MINUTE, value: 3 });
    let written = 0;
    expect(await pack(async () => void written++)).toMatchObject({ days: 1 });
    // Two parts are left, the last one without points. Then all three are searched for late points.
    expect(written).toBe(5);
    expect(await chart()).toEqual({ ...whole, d1: [0, 1, 2, 3] });
    expect([await packsOfDay(), (await rowsOf('SELECT FROM measurement')).length]).toEqual([4, 0]);
  });

  it('keeps points that come after the part of their device, or while it searches for those', async () => {
    let written = 0;
    const done = await pack(async () => {
      written += 1;
      if (written === 3 || written === 5) await store({ deviceId: 'd1', at: written * MINUTE, value: written });
    });
    expect([done.days, written]).toEqual([1, 6]);
    expect(await chart()).toEqual({ ...whole, d1: [0, 1, 2, 3, 5] });
  });

  it('keeps a point that waits for the replacement, and after a crash one that the parts do not have', async () => {
    let [written, waiting] = [0, Promise.resolve<unknown>(undefined)];
    const onPacked = async () => {
      if (++written === 3) await store({ deviceId: 'd2', at: 3 * MINUTE, value: 3 });
    };
    const cut = pack(onPacked, async (text) => {
      if (text.includes('ATTACH PARTITION')) {
        waiting = insert(4);
        await untilOneWaits();
      }
      if (text.includes('DROP TABLE')) throw new TypeError('A crash.');
    });
    await expect(cut).rejects.toThrow('A crash.');
    await untilNoRunHasTheLock();
    await waiting;
    expect(await pack(async () => undefined)).toMatchObject({ days: 1 });
    expect(await chart()).toEqual({ ...whole, d1: [0, 1, 2, 4], d2: [0, 1, 2, 3] });
  });
});
