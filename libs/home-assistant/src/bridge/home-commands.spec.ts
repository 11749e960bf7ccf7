import { ManualClock } from '@flotilla/session';
import type { Principal } from '@flotilla/registry';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandResult } from './command-runner.js';
import { HomeCommands, type HomeCommandsDeps } from './home-commands.js';

interface Run {
  readonly deviceId: string;
  readonly payload: string;
  end(result: CommandResult): void;
}

const component = 'number_volume';
const holder: Principal = { kind: 'KEY', id: 'k', name: 'home', scopes: ['TOOLS_CALL'] };

let runs: Run[];
let warnings: string[];
let repeated: string[];
let succeeded: string[];
let authenticate: HomeCommandsDeps['authenticate'];
let clock: ManualClock;
let commands: HomeCommands;

const settled = () => new Promise((resolve) => setImmediate(resolve));
const started = () => runs.map(({ deviceId, payload }) => `${deviceId} ${payload}`);

async function take(...given: readonly (readonly [slug: string, payload: string])[]): Promise<void> {
  for (const [slug, payload] of given) commands.take({ slug, component, payload });
  await settled();
}

beforeEach(() => {
  [runs, warnings, repeated, succeeded] = [[], [], [], []];
  authenticate = () => Promise.resolve(holder);
  clock = new ManualClock(1_000_000);
  const entities = new Map([[component, {}]]);
  commands = new HomeCommands({
    publications: {
      find: (slug: string) => (slug === 'gone' ? undefined : { device: { id: slug }, entities, messages: new Map() }),
      repeatState: (slug: string) => repeated.push(slug),
    },
    runner: {
      run: ({ id }: { readonly id: string }, _: unknown, payload: string) =>
        new Promise((resolve) => runs.push({ deviceId: id, payload, end: (result) => resolve({ result }) })),
    },
    logger: { info: () => undefined, error: () => undefined, warn: (_: object, text: string) => warnings.push(text) },
    clock,
    authenticate: () => authenticate(),
    onSucceeded: (deviceId: string) => succeeded.push(deviceId),
  } as unknown as HomeCommandsDeps);
});

describe('commands of Home Assistant', () => {
  it('for one device run in their order, one at a time; others need not wait', async () => {
    await take(['a', '30'], ['a', '50'], ['b', '7']);
    expect(started()).toEqual(['a 30', 'b 7']);
    runs[0]?.end('succeeded');
    await settled();
    expect(started()).toEqual(['a 30', 'b 7', 'a 50']);
    runs[2]?.end('failed');
    await settled();
    expect([succeeded, repeated]).toEqual([['a'], ['a']]);
    expect([...commands.counts]).toEqual([
      ['succeeded', 1],
      ['failed', 1],
    ]);
  });

  it('may be for all devices at once: those beyond 100 wait', async () => {
    const slugs = Array.from({ length: 250 }, (_, index) => `d${String(index)}`);
    await take(...slugs.map((slug) => [slug, 'ON'] as const));
    expect(runs).toHaveLength(100);
    while (runs.length > succeeded.length) {
      for (const run of runs) run.end('succeeded');
      await settled();
    }
    expect(succeeded).toEqual(slugs);
    expect(warnings).toEqual([]);
  });

  it('are refused with a reason and the true value if too many wait, also for one device', async () => {
    const manyFor = (slug: string, length: number) =>
      Array.from({ length }, (_, index) => [slug, String(index)] as const);
    await take(...manyFor('a', 110), ['b', '1']);
    expect(started()).toEqual(['a 0', 'b 1']);
    expect(warnings).toEqual(Array(9).fill('too many commands of Home Assistant wait'));
    expect(repeated).toEqual(Array(9).fill('a'));
    for (let device = 1; device < 20; device += 1) await take(...manyFor(`d${String(device)}`, 101));
    expect(commands.counts.get('refused')).toBe(9);
    await take(['b', '2']);
    expect(commands.counts.get('refused')).toBe(10);
  });

  it('with a payload that is too long do not wait, because they take memory', async () => {
    await take(['a', '1'], ['a', 'x'.repeat(1_025)], ['a', 'x'.repeat(1_024)]);
    expect(warnings).toEqual(['a command of Home Assistant was too long']);
    expect(repeated).toEqual(['a']);
    expect([...commands.counts]).toEqual([['invalid', 1]]);
    runs[0]?.end('succeeded');
    await settled();
    expect(runs.map(({ payload }) => payload.length)).toEqual([1, 1_024]);
  });

  it('are refused with a reason and the true value without a valid key, and without PostgreSQL', async () => {
    authenticate = () => Promise.resolve(undefined);
    await take(['a', '1']);
    authenticate = () => Promise.reject(new Error('PostgreSQL is not available.'));
    await take(['a', '2'], ['gone', '3']);
    expect(warnings).toEqual([
      'a command of Home Assistant was refused: the key is not valid any more',
      'a command of Home Assistant named no entity that the key may command',
      'a command of Home Assistant was refused: the hub could not check its key',
    ]);
    expect(repeated.toSorted()).toEqual(['a', 'a', 'gone']);
    expect(runs).toEqual([]);
  });

  it('that waited for more than 30 s for those before them are refused', async () => {
    await take(['a', '1'], ['a', '2']);
    clock.advance(31_000);
    await take(['a', '3']);
    runs[0]?.end('failed');
    await settled();
    expect(started()).toEqual(['a 1', 'a 3']);
    expect(warnings).toEqual(['a command of Home Assistant was refused: those before it took too long']);
  });

  it('that wait are dropped when another process publishes, and later ones run', async () => {
    await take(['a', '1'], ['a', '2'], ['a', '2']);
    commands.clear();
    commands.clear();
    expect(warnings).toEqual(['commands of Home Assistant were dropped: this process does not serve it any more']);
    expect(commands.counts.get('refused')).toBe(2);
    await take(['a', '3']);
    runs[0]?.end('succeeded');
    await settled();
    expect(started()).toEqual(['a 1', 'a 3']);
  });
});
