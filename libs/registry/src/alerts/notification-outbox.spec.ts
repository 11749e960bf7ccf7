import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRegistryFixture } from '../registry-fixture.suite.js';
import type { RegistryFixture } from '../registry-fixture.suite.js';
import type { ClaimedMessage } from './alert.js';

const NOW = 1_800_000_000_000;
const processId = randomUUID();
const ruleId = randomUUID();

let fixture: RegistryFixture;
let channelId: string;

beforeAll(async () => {
  fixture = await openRegistryFixture();
  const config = { to: ['shift@hub.example'] };
  const made = await fixture.registry.notificationChannels.create(
    { name: 'Shift', kind: 'EMAIL', config, shown: config, enabled: true },
    { at: NOW, by: { actor: 'the spec' }, channelsMax: 5 },
  );
  if (made.kind !== 'saved') throw new TypeError(made.kind);
  channelId = made.channel.id;
});
afterAll(() => fixture.close());

/** An alert about a device, or about a group without one. */
async function addFired(deviceId: string | undefined, at: number): Promise<string> {
  const alertId = v7({ msecs: at });
  await fixture.raw.query(
    `INSERT INTO alert (id, rule_id, severity, device_id, is_group, device_count, facts, fired_at)
     VALUES ($1, $2, 'WARNING', $3, $4, 1, '{}', now())`,
    [alertId, ruleId, deviceId, deviceId === undefined],
  );
  await fixture.raw.query(
    `INSERT INTO notification (id, alert_id, channel_id, kind, created_at)
     VALUES ($1, $2, $3, 'FIRED', to_timestamp($4::float8 / 1000))`,
    [v7({ msecs: at }), alertId, channelId, at],
  );
  return alertId;
}

it('sends the messages behind one that the other end refuses each time', async () => {
  const { notificationOutbox } = fixture.registry;
  const refused = await addFired('first', NOW);
  let now = NOW;
  const claim = async (): Promise<ClaimedMessage> => {
    // Past the longest wait after a failure.
    now += 600_000;
    const claimed = await notificationOutbox.claim(processId, { now, claimMs: 10_000 });
    if (claimed === undefined) throw new TypeError('nothing to send');
    return claimed;
  };
  const alertsOf = ({ alerts }: ClaimedMessage) => alerts.map(({ id }) => id);
  const first = await claim();
  await notificationOutbox.failed(first, now, 'too long');
  const behind = [await addFired('second', now), await addFired('third', now + 1)];
  // It may have the device of the refused one.
  const group = await addFired(undefined, now + 2);
  for (let tries = 1; tries < 3; tries += 1) {
    const again = await claim();
    expect(again).toMatchObject({ messageId: first.messageId });
    expect(alertsOf(again)).toEqual([refused]);
    await notificationOutbox.failed(again, now, 'too long');
  }
  const next = await claim();
  expect(alertsOf(next).sort()).toEqual([...behind].sort());
  await notificationOutbox.delivered(next, now, now);
  const last = await claim();
  expect(last).toMatchObject({ messageId: first.messageId });
  await notificationOutbox.delivered(last, now, now);
  expect(alertsOf(await claim())).toEqual([group]);
});

it('lets a late failure change nothing once another process claimed or delivered the message', async () => {
  const { notificationChannels, notificationOutbox } = fixture.registry;
  const lease = await fixture.registry.takeLease();
  const at = { now: NOW + 3_600_000, claimMs: 900_000 };
  await addFired('late', at.now);
  const former = await notificationOutbox.claim(processId, at);
  if (former === undefined) throw new TypeError('nothing to send');
  // The former process counts as dead, because it has no lease.
  const next = await notificationOutbox.claim(lease.id, at);
  expect(next).toMatchObject({ messageId: former.messageId });
  await notificationOutbox.failed(former, at.now, 'too late');
  expect(await notificationOutbox.claim(processId, { ...at, now: at.now + 600_000 })).toBeUndefined();
  await notificationOutbox.delivered(former, at.now, at.now);
  await notificationOutbox.failed(former, at.now, 'too late');
  expect(await notificationChannels.find(channelId)).toMatchObject({ failingSince: undefined, lastError: undefined });
  await lease.release();
});

it('tries new settings at once, although an attempt with the former ones fails after they were saved', async () => {
  const { notificationChannels, notificationOutbox } = fixture.registry;
  const at = { now: NOW + 7_200_000, claimMs: 900_000 };
  await addFired('edited', at.now);
  const former = await notificationOutbox.claim(processId, at);
  if (former === undefined) throw new TypeError('nothing to send');
  const config = { to: ['night@hub.example'] };
  const edited = await notificationChannels.update(
    channelId,
    { name: 'Shift', kind: 'EMAIL', config, shown: config, enabled: true },
    { at: at.now, by: { actor: 'the spec' } },
  );
  expect(edited.kind).toBe('saved');
  await notificationOutbox.failed(former, at.now, 'no such mailbox');
  expect(await notificationChannels.find(channelId)).toMatchObject({ failingSince: undefined, lastError: undefined });
  const next = await notificationOutbox.claim(processId, at);
  expect(next).toMatchObject({ messageId: former.messageId, config, failures: 0 });
});
