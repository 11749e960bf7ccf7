import type { Principal } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { MetricsKeys } from './metrics-keys.js';

const DAY_MS = 86_400_000;

const reader: Principal = { kind: 'KEY', id: 'k', name: 'scraper', scopes: ['EVENTS_READ'], devices: undefined };

/** Keys that can be revoked, together or one by one, and a manual clock. */
function stage() {
  const known = new Map<string, Principal>([['good', reader]]);
  const state = { now: 0, isAway: false };
  const authenticate = (key: string) =>
    state.isAway ? Promise.reject(new Error('away')) : Promise.resolve(known.get(key));
  return { known, state, keys: new MetricsKeys({ apiKeys: { authenticate }, clock: { now: () => state.now } }) };
}

describe('keys for metrics', () => {
  it('need EVENTS_READ or ADMIN over the whole fleet', async () => {
    const { keys, known } = stage();
    known.set('admin', { ...reader, scopes: ['ADMIN'] });
    known.set('other', { ...reader, scopes: ['DEVICES_READ'] });
    known.set('narrowed', { ...reader, devices: { ids: ['d'] } });
    expect(await keys.accessOf(undefined)).toBe('refused');
    expect(await keys.accessOf('wrong')).toBe('refused');
    for (const key of ['good', 'admin']) expect(await keys.accessOf(key), key).toBe('granted');
    for (const key of ['other', 'narrowed']) expect(await keys.accessOf(key), key).toBe('forbidden');
  });

  it('stay valid for a day while PostgreSQL does not answer; unknown keys do not', async () => {
    const { keys, state } = stage();
    await keys.accessOf('good');
    await keys.accessOf('wrong');
    state.isAway = true;
    state.now = DAY_MS - 1;
    expect(await keys.accessOf('good')).toBe('granted');
    expect(await keys.accessOf('wrong')).toBe('undecided');
    expect(await keys.accessOf('new')).toBe('undecided');
    state.now = DAY_MS;
    expect(await keys.accessOf('good')).toBe('undecided');
  });

  it('end when they are revoked', async () => {
    const { keys, known, state } = stage();
    await keys.accessOf('good');
    known.delete('good');
    expect(await keys.accessOf('good')).toBe('refused');
    state.isAway = true;
    expect(await keys.accessOf('good')).toBe('undecided');
  });

  it('are cached for 16 scrapers', async () => {
    const { keys, known, state } = stage();
    await keys.accessOf('good');
    for (let index = 0; index < 16; index += 1) {
      known.set(`key-${index}`, reader);
      await keys.accessOf(`key-${index}`);
    }
    state.isAway = true;
    expect(await keys.accessOf('good')).toBe('undecided');
    expect(await keys.accessOf('key-0')).toBe('granted');
  });
});
