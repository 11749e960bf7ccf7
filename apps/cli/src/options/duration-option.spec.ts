/** Durations on the command line: one syntax, and numbers in the unit that an option always had. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../run-command.suite.js';
import { startSchemaHub, type Answers, type SchemaHub } from '../schema-hub.suite.js';
import { durationOf } from './duration-option.js';

describe('a duration', () => {
  it.each([
    ['30s', 30],
    ['10m', 600],
    ['2h', 7_200],
    ['1.5h', 5_400],
    ['7d', 604_800],
    [' 2w ', 1_209_600],
    ['15', 900],
    ['0.01', 1],
  ])('%s is %d seconds where a plain number counts minutes', (typed, seconds) =>
    expect(durationOf('for', typed, { plain: 'm' })).toBe(seconds),
  );

  it('keeps parts of a second only where they count', () => {
    expect(durationOf('every', '0.2', { plain: 's', isFraction: true })).toBe(0.2);
    expect(durationOf('every', '1.6s', { plain: 's' })).toBe(2);
  });

  it.each(['', ' ', 'soon', '1e300', '-5m', '5 minutes', '1.2.3h', '.', '4s', '11m'])('is rejected for %j', (typed) =>
    expect(() => durationOf('for', typed, { plain: 'm', min: '5s', max: '10m' })).toThrow(
      `--for must be a duration such as 30s, 10m, 2h or 7d, from 5s to 10m, not "${typed}".`,
    ),
  );

  it('is rejected if it is given twice', () =>
    expect(() => durationOf('for', ['1m', '2m'], { plain: 'm' })).toThrow('--for is given more than once.'));
});

const job = 'jobs create self.reboot --all --yes';
const rule = 'alerts rules create A --kind DEVICE_OFFLINE';

/** A command, the mutation that it sends, the field with the duration, and two ways to type it. */
const cases: readonly (readonly [string, string, string, string, string, number])[] = [
  ['keys create k --scope ADMIN --expires-in', 'createApiKey', 'expiresAt', '2', '2d', 172_800],
  ['enrol link --name a --max-devices 1 --expires-in', 'createEnrolmentLink', 'expiresAt', '2', '2h', 7_200],
  ['enrol block a --for', 'blockBoard', 'until', '2', '120m', 7_200],
  ['devices add a --admit-without-code-for', 'registerDevice', 'admitWithoutCodeUntil', '2', '2h', 7_200],
  [`${job} --expires-in`, 'createJob', 'expiresInSeconds', '1.5', '90m', 5_400],
  [`${job} --waves 5,100 --soak`, 'createJob', 'waves.0.soakSeconds', '600', '10m', 600],
  ['call a self.reboot --timeout', 'callTool', 'timeoutMs', '1.5', '1.5s', 1_500],
  ['policies set self.a --timeout', 'setToolPolicy', 'callTimeoutMs', '90', '1.5m', 90_000],
  [`${rule} --for`, 'createAlertRule', 'forSeconds', '600', '10m', 600],
  [`${rule} --window`, 'createAlertRule', 'windowSeconds', '600', '10m', 600],
  [`${rule} --repeat`, 'createAlertRule', 'repeatEverySeconds', '7200', '2h', 7_200],
  ['measurements set-rule a:b --all --min-interval', 'setRecordingRule', 'minIntervalSeconds', '60', '1m', 60],
  ['desired create self.a --name a --all --hold', 'createDesiredState', 'holdSeconds', '30', '30m', 1_800],
];

let hub: SchemaHub;
const sent = new Map<string, unknown>();
beforeAll(async () => {
  const keep = (mutation: string): Answers[string] => {
    return (args) => {
      sent.set(mutation, args['input'] ?? args);
      return {};
    };
  };
  hub = await startSchemaHub(
    Object.fromEntries(cases.map(([, mutation]) => [`Mutation.${mutation}`, keep(mutation)] as const)),
  );
});
afterAll(() => hub.close());

describe('the durations of the commands', () => {
  it.each(cases)('%s: %s.%s is the same for %s and %s', async (words, mutation, field, plain, typed, expected) => {
    for (const duration of [plain, typed]) {
      sent.clear();
      const before = Date.now();
      expect((await runCommand(hub, [...words.split(' '), duration])).problem).toBe('');
      const value = field
        .split('.')
        .reduce<unknown>((part, name) => Reflect.get(part as object, name), sent.get(mutation));
      if (typeof value === 'string') {
        const at = Date.parse(value) - expected * 1_000;
        expect([duration, at >= before && at <= Date.now()]).toEqual([duration, true]);
      } else expect([duration, value]).toEqual([duration, expected]);
    }
  });
});
