import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EventFeed } from '@flotilla/bus';
import { ListingNotifications, type Audience } from './listing-notifications.js';

const EVERY_MS = 1000;
const auto: Audience = { mode: 'auto', scopes: [] };
const full: Audience = { mode: 'full', scopes: [] };

let fingerprint: string | undefined;
let reads: number;
let changed: () => void;
let notifications: ListingNotifications;

beforeEach(() => {
  vi.useFakeTimers();
  fingerprint = 'a';
  reads = 0;
  const listeners = new Set<() => void>();
  changed = () => listeners.forEach((listener) => listener());
  const subscribe = (_topic: string, listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  notifications = new ListingNotifications({
    feed: { subscribe: subscribe as EventFeed['subscribe'] },
    catalogue: {
      // Callers who may call more tools have the compact listing.
      fingerprint: async (scopes) => {
        reads += 1;
        return scopes.length > 0 ? undefined : fingerprint;
      },
    },
    logger: { warn: () => undefined },
    everyMs: EVERY_MS,
  });
});

afterEach(() => {
  notifications.close();
  vi.useRealTimers();
});

/** Notifications of a listener after the changes of one period. */
async function afterChange(notify: { mock: { calls: unknown[] } }): Promise<number> {
  const before = notify.mock.calls.length;
  changed();
  changed();
  await vi.advanceTimersByTimeAsync(EVERY_MS);
  return notify.mock.calls.length - before;
}

describe('notifications of changed listings', () => {
  it('come once per period, and only when the listing differs', async () => {
    const notify = vi.fn(async () => undefined);
    notifications.subscribe(auto, notify);
    expect(await afterChange(notify)).toBe(1);
    expect(await afterChange(notify)).toBe(0);
    fingerprint = 'b';
    expect(await afterChange(notify)).toBe(1);
  });

  it('come only to those whose listing differs', async () => {
    const [narrow, wide] = [vi.fn(async () => undefined), vi.fn(async () => undefined)];
    notifications.subscribe(auto, narrow);
    notifications.subscribe({ mode: 'auto', scopes: ['TOOLS_CALL_PRIVILEGED'] }, wide);
    await afterChange(narrow);
    fingerprint = 'b';
    const before = wide.mock.calls.length;
    expect(await afterChange(narrow)).toBe(1);
    expect(wide.mock.calls.length - before).toBe(0);
  });

  it('always come to those who asked for the full listing', async () => {
    const notify = vi.fn(async () => undefined);
    notifications.subscribe(full, notify);
    expect(await afterChange(notify)).toBe(1);
    expect(await afterChange(notify)).toBe(1);
  });

  it('read nothing of the fleet without a listener whom a change concerns', async () => {
    const notify = vi.fn(async () => undefined);
    expect(await afterChange(notify)).toBe(0);
    notifications.subscribe({ mode: 'compact', scopes: [] }, notify);
    expect(await afterChange(notify)).toBe(0);
    notifications.subscribe(auto, notify)();
    expect(await afterChange(notify)).toBe(0);
    expect(reads).toBe(0);
  });

  it('miss no change back to what an earlier listener knew', async () => {
    const first = vi.fn(async () => undefined);
    const end = notifications.subscribe(auto, first);
    await afterChange(first);
    end();
    fingerprint = 'b';
    changed();
    const second = vi.fn(async () => undefined);
    notifications.subscribe(auto, second);
    fingerprint = 'a';
    expect(await afterChange(second)).toBe(1);
  });
});
