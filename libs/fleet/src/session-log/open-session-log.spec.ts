import type { DeviceId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, openHub } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { openSessionLog, SESSION_LOG_MS_MAX, SESSION_LOG_READERS_MAX, SessionLogReaders } from './open-session-log.js';

const entry = {
  deviceId: 'logged' as DeviceId,
  at: 1,
  kind: 'SENT',
  text: '{}',
  bytes: 2,
  isTruncated: false,
} as const;

describe('the log of a session', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    await hub.connect(['logged', 'other']);
  });
  afterAll(() => fixture.close());

  async function open(readers = new SessionLogReaders(), clock = new ManualClock(1_000_000)) {
    const { registry, bus } = hub;
    const seen: string[] = [];
    const wishes: number[] = [];
    const endWishes = bus.feed.subscribe('sessionLogWanted', ({ forMs }) => wishes.push(forMs));
    const reader = { onEntry: ({ text }: { text: string }) => seen.push(text), onEnd: () => seen.push('end') };
    const answer = await openSessionLog({ registry, bus, clock, readers }, 'logged', admin, reader);
    return { ...answer, clock, readers, seen, wishes, endWishes };
  }

  it('is asked for while it is read, carries the entries of its device, and ends after 15 minutes', async () => {
    const { log, clock, readers, seen, wishes, endWishes } = await open();
    expect(log).toMatchObject({ startedAt: 1_000_000, endsAt: 1_000_000 + SESSION_LOG_MS_MAX });
    hub.bus.feed.publish('sessionLog', { ...entry, text: 'own' });
    hub.bus.feed.publish('sessionLog', { ...entry, deviceId: 'other' as DeviceId, text: 'of another' });
    await expect.poll(() => seen).toEqual(['own']);
    clock.advance(SESSION_LOG_MS_MAX - 1);
    expect([seen, readers.count]).toEqual([['own'], 1]);
    clock.advance(1);
    expect([seen, readers.count, clock.timers]).toEqual([['own', 'end'], 0, 0]);
    // Every 5 s, never beyond the end.
    await expect.poll(() => wishes.length).toBe(180);
    expect([wishes[0], wishes.at(-1)]).toEqual([15_000, 5_000]);
    endWishes();
  });

  it('ends with its reader, once', async () => {
    const { log, clock, readers, endWishes } = await open();
    log?.close();
    log?.close();
    expect([readers.count, clock.timers]).toEqual([0, 0]);
    endWishes();
  });

  it('is in the audit trail before its first entry', async () => {
    const { log, endWishes } = await open();
    const { rows } = await hub.registry.audit.page({ action: 'device.session_log_opened' }, { first: 1 });
    expect(rows[0]).toMatchObject({ actor: 'admin', subject: 'device:logged', data: { minutesMax: 15 } });
    log?.close();
    endWishes();
  });

  it('needs a device that exists and a free place', async () => {
    const reader = { onEntry: () => undefined, onEnd: () => undefined };
    expect((await hub.fleet.openSessionLog('nowhere', admin, reader)).refusal).toMatchObject({
      code: 'NOT_FOUND',
      path: ['deviceId'],
    });
    const readers = new SessionLogReaders();
    const opened = [];
    for (let count = 0; count < SESSION_LOG_READERS_MAX; count += 1) opened.push(await open(readers));
    expect((await open(readers)).refusal?.code).toBe('OVERLOADED');
    opened[0]?.log?.close();
    const again = await open(readers);
    expect(again.log).toBeDefined();
    for (const { log, endWishes } of [...opened, again]) {
      log?.close();
      endWishes();
    }
    expect(readers.count).toBe(0);
  });
});
