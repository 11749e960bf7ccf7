import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub } from '../../schema-hub.suite.js';
import { rulesOf } from './desired-options.js';

const stored = { from: '22:00', to: '06:00', zone: 'Europe/Berlin', days: [1, 2] };

describe('the window of a desired state', () => {
  it.each([
    [{ window: '21:00-06:00' }, { from: '21:00', to: '06:00', zone: 'Europe/Berlin', days: [1, 2] }],
    [{ 'window-zone': 'Asia/Tokyo' }, { from: '22:00', to: '06:00', zone: 'Asia/Tokyo', days: [1, 2] }],
    [{ 'window-days': 'sun' }, { from: '22:00', to: '06:00', zone: 'Europe/Berlin', days: [7] }],
    [{ 'window-zone': 'device' }, { from: '22:00', to: '06:00', zone: null, days: [1, 2] }],
    [{ 'window-days': 'every' }, { from: '22:00', to: '06:00', zone: 'Europe/Berlin' }],
    [
      { window: '21:00-06:00', 'window-zone': 'device', 'window-days': 'every' },
      { from: '21:00', to: '06:00', zone: null },
    ],
    [{ window: 'always' }, null],
    [{}, undefined],
  ])('keeps in an edit what is not given: %j', (args, window) =>
    expect(rulesOf(args, stored).window).toStrictEqual(window),
  );

  it('is every day in the zone of each device, where a new one has only hours', () => {
    const window = { from: '21:00', to: '06:00', zone: null };
    expect(rulesOf({ window: '21:00-06:00' })).toEqual({ window });
    expect(rulesOf({ window: '21:00-06:00', 'window-zone': 'device', 'window-days': 'every' })).toEqual({ window });
  });

  it.each([
    [{ window: 'always', 'window-zone': 'Europe/Berlin' }, '--window always has no zone and no days.'],
    [{ 'window-days': 'mon' }, 'Add --window'],
    [{ 'window-zone': 'device', 'window-days': 'every' }, 'Add --window'],
  ])('is rejected for %j', (args, message) => expect(() => rulesOf(args)).toThrow(message));
});

it('stays in an edit of the hours, in what is sent to the hub', async () => {
  const inputs: unknown[] = [];
  const hub = await startSchemaHub({
    'DesiredState.window': () => stored,
    'Mutation.updateDesiredState': ({ input }) => {
      inputs.push(input);
      return {};
    },
  });
  onTestFinished(() => hub.close());
  await runCommand(hub, ['desired', 'edit', '01990000-0000-7000-8000-00000000000d', '--window', '21:00-06:00']);
  expect(inputs).toMatchObject([{ window: { from: '21:00', to: '06:00', zone: 'Europe/Berlin', days: [1, 2] } }]);
});
