import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AlertRulePlan } from '../index.js';
import { openRegistryFixture } from '../registry-fixture.suite.js';
import type { RegistryFixture } from '../registry-fixture.suite.js';

const action = { at: 1_000, by: { actor: 'the spec' } };
const plan: Omit<AlertRulePlan, 'name'> = {
  kind: 'DEVICE_OFFLINE',
  devices: undefined,
  severity: 'WARNING',
  forSeconds: 300,
  threshold: undefined,
  path: undefined,
  below: false,
  windowSeconds: 600,
  groupAbove: 5,
  repeatEverySeconds: undefined,
  channelIds: [],
  enabled: false,
};

let fixture: RegistryFixture;

beforeAll(async () => {
  fixture = await openRegistryFixture();
});
afterAll(() => fixture.close());

async function addChannel(name: string): Promise<string> {
  const shown = { to: ['shift@hub.example'] };
  const channel = { name, kind: 'EMAIL', config: shown, shown, enabled: true } as const;
  const made = await fixture.registry.notificationChannels.create(channel, { ...action, channelsMax: 5 });
  if (made.kind !== 'saved') throw new TypeError(made.kind);
  return made.channel.id;
}

it('a channel after the first one was removed gets the shipped rules that no person changed', async () => {
  const { alertRules, notificationChannels } = fixture.registry;
  const names = ['disabled', 'edited', 'untouched'];
  await alertRules.ship(new Map(names.map((name) => [name, { ...plan, name }])), action.at);
  const [disabled, edited] = await alertRules.all();
  const first = await addChannel('First');
  const change = { ...action, at: 2_000, expectedRevision: undefined };
  await alertRules.update(disabled?.id ?? '', { ...plan, name: 'disabled', channelIds: [first] }, change);
  await alertRules.update(edited?.id ?? '', { ...plan, name: 'edited', enabled: true }, change);
  await notificationChannels.remove(first, action);
  const second = await addChannel('Second');
  expect((await alertRules.all()).map(({ name, enabled, channelIds }) => ({ name, enabled, channelIds }))).toEqual([
    { name: 'disabled', enabled: false, channelIds: [] },
    { name: 'edited', enabled: true, channelIds: [] },
    { name: 'untouched', enabled: true, channelIds: [second] },
  ]);
});

it('a later version makes the rules that it adds, and none that was deleted or has a name that is taken', async () => {
  const { alertRules } = fixture.registry;
  const shipped = (keys: Readonly<Record<string, string>>) =>
    alertRules.ship(new Map(Object.entries(keys).map(([key, name]) => [key, { ...plan, name }])), action.at);
  expect(await shipped({ kept: 'Kept', removed: 'Removed' })).toBe(2);
  const removed = (await alertRules.all()).find(({ name }) => name === 'Removed');
  await alertRules.remove(removed?.id ?? '', action);
  await fixture.registry.alertEvaluation.removeOld(action.at + 1);
  await alertRules.create({ ...plan, name: 'Own' }, { ...action, rulesMax: 20 });
  expect(await shipped({ kept: 'Kept', removed: 'Removed', later: 'Later', taken: 'Own' })).toBe(1);
  const names = (await alertRules.all()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['Kept', 'Later', 'Own']));
  expect(names).not.toContain('Removed');
});
