/** Random jobs and events for the model of a run, and an end where all goes well. */
import fc from 'fast-check';
import { assert } from 'vitest';
import type { AbortRule } from '../../abort/abort-rule.js';
import type { Verification } from '../../job-types.js';
import type { WaveSpec } from '../../waves/wave.js';
import { answered, busy, failed, offline, unanswered } from './model-job.suite.js';
import type { WorldOptions } from './model-job.suite.js';
import { World } from './run-world.suite.js';

const canary: WaveSpec = { count: 2, successThreshold: 0.5, soakSeconds: 0, gate: 'AUTO' };
const soaking: WaveSpec = { percent: 50, successThreshold: 0.5, soakSeconds: 2, gate: 'AUTO' };
const manual: WaveSpec = { count: 3, successThreshold: 0, soakSeconds: 0, gate: 'MANUAL' };
const threeFail: AbortRule = { outcomes: ['FAILED', 'UNKNOWN'], scope: 'JOB', count: 3, action: 'CANCEL' };
const halfFail: AbortRule = { outcomes: ['FAILED'], scope: 'JOB', ratio: 0.5, minDecided: 4, action: 'PAUSE' };

export const verifications: readonly Verification[] = ['READBACK', 'REBOOT', 'FIRMWARE'];

export const options: fc.Arbitrary<WorldOptions> = fc.record({
  targetCount: fc.nat(12),
  maxInFlight: fc.integer({ min: 1, max: 6 }),
  idempotent: fc.boolean(),
  perMinute: fc.option(fc.integer({ min: 60, max: 6_000 }), { nil: undefined }),
  waves: fc.constantFrom([], [], [canary], [canary, soaking], [manual, soaking]),
  abortRules: fc.constantFrom([], [], [threeFail], [halfFail], [halfFail, threeFail]),
  verification: fc.constantFrom('NONE', 'NONE', ...verifications),
});

/** Not in flight: a lost claim would be found minutes later, when its verification is over. */
const countsToLose = ['pending', 'waitingDevice', 'verifying'] as const;
const index = fc.nat(11);
const times = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>) => ({ weight, arbitrary });
const kind = <Kind extends string>(name: Kind) => fc.constant(name);

/** One thing that happens: the weights let most tasks come to their end between the others. */
const happening = fc.oneof(
  times(12, fc.record({ kind: kind('perform') })),
  times(4, fc.record({ kind: kind('send'), handedOver: fc.constantFrom(Infinity, Infinity, Infinity, 1) })),
  times(1, fc.record({ kind: kind('loseClaim') })),
  times(
    8,
    fc.record({
      kind: kind('settle'),
      index,
      outcome: fc.constantFrom(answered, answered, failed, unanswered, busy, offline),
    }),
  ),
  times(4, fc.record({ kind: kind('flush') })),
  times(4, fc.record({ kind: kind('advance'), ms: fc.integer({ min: 1, max: 3_000 }) })),
  times(2, fc.record({ kind: kind('connection'), index, isOnline: fc.boolean() })),
  times(2, fc.record({ kind: kind('boot'), index, isUpgraded: fc.boolean() })),
  times(2, fc.record({ kind: kind('set'), index })),
  times(3, fc.record({ kind: kind('endRead'), index, isAnswered: fc.boolean() })),
  times(1, fc.record({ kind: kind('answerLate'), index, outcome: fc.constantFrom('SUCCEEDED', 'FAILED') })),
  times(1, fc.record({ kind: kind('steer'), event: fc.constantFrom('pause', 'resume') })),
  times(1, fc.record({ kind: kind('restart') })),
  times(1, fc.record({ kind: kind('loseCount'), counter: fc.constantFrom(...countsToLose) })),
);
export type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

/** Without a size, fast-check makes lists of ten at most, in which no call is sent twice. */
export function happenings(most: number): fc.Arbitrary<readonly Happening[]> {
  return fc.array(happening, { maxLength: most, size: 'max' });
}

function happen(world: World, what: Happening): unknown {
  switch (what.kind) {
    case 'perform':
      return world.perform();
    case 'send':
      return world.sendBatch(what.handedOver);
    case 'loseClaim':
      // PostgreSQL commits a claim whose answer is lost; the shell repeats the statement.
      return world.task?.kind === 'claim' && world.rows.claim(world.task.limit, world.now);
    case 'settle':
      return world.settle(what.index, what.outcome);
    case 'flush':
      return world.flush();
    case 'advance':
      return world.advance(what.ms);
    case 'steer':
      return world.steer(what.event);
    case 'restart':
      return world.restart();
    case 'loseCount':
      return world.rows.loseCount(what.counter);
    case 'endRead':
      return world.endRead(what.index, what.isAnswered);
    case 'answerLate':
      return world.answerLate(what.index, what.outcome);
    default:
      return happenTo(world, what);
  }
}

function happenTo(world: World, what: Extract<Happening, { kind: 'boot' | 'connection' | 'set' }>): void {
  const device = world.rows.targets[what.index]?.device;
  if (device === undefined) return;
  if (what.kind === 'set') device.level = 1;
  else if (what.kind === 'boot') device.boot(world.now, what.isUpgraded);
  else if (!what.isOnline) device.leave(world.now);
  else if (!device.isOnline) device.connect(world.now);
  if (what.kind !== 'set' && device.isOnline) world.signal({ kind: 'devicesReturned', deviceIds: [device.id] });
}

export function runThrough(given: WorldOptions, happenings: readonly Happening[]): World {
  const world = new World(given);
  world.begin();
  for (const what of happenings) if (!world.isOver) happen(world, what);
  return world;
}

/** Carries everything out that is due, without letting time pass. */
export function settleAll(world: World): void {
  world.performAll();
  while (world.batches.length > 0) world.sendBatch();
  while (world.calls.length > 0) world.settle(0, answered);
  while (world.reads.length > 0) world.endRead(0, true);
  world.flush();
}

/** Lets everything go well until the run is over. */
export function finish(world: World): void {
  for (const { device } of world.rows.targets) if (!device.isOnline) device.connect(world.now);
  for (let turns = 0; !world.isOver; turns += 1) {
    assert(turns < 500, 'the run comes to an end');
    if (world.rows.job.state === 'PAUSED') world.steer('resume');
    settleAll(world);
    if (!world.isOver && world.task === undefined) world.advance(1_000);
  }
}
