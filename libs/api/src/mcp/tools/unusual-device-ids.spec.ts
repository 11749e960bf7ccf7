import type { DeviceRow, Page } from '@flotilla/registry';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { devicePartOf } from './agent-tool-names.js';
import { UnusualDeviceIds } from './unusual-device-ids.js';

const [first, second] = ['greenhouse.north-line.pump-1', 'greenhouse.north-line.pump-2'];
const part = devicePartOf(first);

let fleet: string[];
let reads: number;

beforeEach(() => {
  vi.useFakeTimers();
  [fleet, reads] = [[first], 0];
});
afterEach(() => vi.useRealTimers());

const open = () =>
  new UnusualDeviceIds({
    page: async () => {
      reads += 1;
      const rows = fleet.map((id) => ({ id }) as DeviceRow);
      return { rows, cursors: [], hasNextPage: false } as unknown as Page<DeviceRow>;
    },
  });

const find = (ids: UnusualDeviceIds, wanted: string) =>
  ids.find(part, (found) => Promise.resolve(found.find((id) => id === wanted)));

it('are found by simultaneous calls with one read of the fleet', async () => {
  const ids = open();
  expect(await Promise.all([find(ids, first), find(ids, first)])).toEqual([first, first]);
  expect(reads).toBe(1);
});

it('are found if the device is newer than another one with the same part', async () => {
  const ids = open();
  expect(devicePartOf(second)).toBe(part);
  expect(await find(ids, first)).toBe(first);
  fleet.push(second);
  expect(await find(ids, second)).toBeUndefined();
  vi.advanceTimersByTime(5_000);
  expect(await Promise.all([find(ids, second), find(ids, second)])).toEqual([second, second]);
  expect(reads).toBe(2);
});

it('cause one read in five seconds where a name is invented', async () => {
  const ids = open();
  for (let call = 0; call < 5; call += 1) expect(await find(ids, 'invented')).toBeUndefined();
  expect(reads).toBe(1);
});

it('are read again after a read that failed', async () => {
  const page = vi.fn(() => Promise.reject(new Error('PostgreSQL is away')));
  const ids = new UnusualDeviceIds({ page });
  await expect(find(ids, first)).rejects.toThrow('away');
  await expect(find(ids, first)).rejects.toThrow('away');
  expect(page).toHaveBeenCalledTimes(2);
});

it('are found where they are known, although the fleet cannot be read now', async () => {
  const rows = [{ id: first }] as DeviceRow[];
  const page = vi.fn(async () => ({ rows, cursors: [], hasNextPage: false }) as unknown as Page<DeviceRow>);
  const ids = new UnusualDeviceIds({ page });
  expect(await find(ids, first)).toBe(first);
  vi.advanceTimersByTime(5_000);
  page.mockRejectedValueOnce(new Error('PostgreSQL is away'));
  const invented = find(ids, 'invented');
  expect(await find(ids, first)).toBe(first);
  await expect(invented).rejects.toThrow('away');
  expect(await find(ids, first)).toBe(first);
});
