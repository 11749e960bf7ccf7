import { expect, it } from 'vitest';
import { RecordingRuleCache } from './recording-rule-cache.js';

const hour = 3_600_000;

it('reads rules, and which devices they cover, again after a while and when the clock was set back', async () => {
  let now = 10 * hour;
  let reads = 0;
  const list = () => {
    reads += 1;
    return Promise.resolve([]);
  };
  const recordingRules = { list, matching: () => Promise.resolve(new Set<string>()) };
  const cache = new RecordingRuleCache({ registry: { recordingRules }, clock: { now: () => now } });
  const known = { generation: (await cache.current()).generation, checkedAt: now };
  expect([59_999, 60_000, -hour].map((ms) => cache.isStale(known, now + ms))).toEqual([false, true, true]);
  now += 29_999;
  await cache.current();
  expect(reads).toBe(1);
  now -= hour;
  await cache.current();
  expect(reads).toBe(2);
});

it('reads changed rules again after a failed read, and does not use the former ones', async () => {
  const answers = [() => Promise.resolve([]), () => Promise.reject(new Error('PostgreSQL is away.'))];
  let reads = 0;
  const list = () => (answers[reads++] ?? (() => Promise.resolve([])))();
  const recordingRules = { list, matching: () => Promise.resolve(new Set<string>()) };
  const cache = new RecordingRuleCache({ registry: { recordingRules }, clock: { now: () => hour } });
  await cache.current();
  cache.expire();
  await expect(cache.current()).rejects.toThrow('away');
  expect(cache.wants('any')).toBe(true);
  await cache.current();
  expect(reads).toBe(3);
});
