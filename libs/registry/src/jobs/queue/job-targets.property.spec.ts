/**
 * In any order of operations on a job: counters match the rows, decided targets stay decided, and
 * targets that must not run twice are claimed once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TargetState } from '@flotilla/jobs';
import type { DeviceId } from '@flotilla/mcp';
import type { JobFence } from '../job-fence.js';
import type { TargetFlush } from './target-flush.js';
import type { ClaimedTarget } from './target-queue.js';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT } from '../new-job.suite.js';

const RUNS = process.env['FLOTILLA_TEST_LONG'] === '1' ? 500 : 30;
const ACTS_PER_RUN = 25;
const DEVICES = 12;

/** A repeatable sequence for each seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

interface Row {
  readonly device_id: DeviceId;
  readonly state: TargetState;
  readonly outcome: string | null;
  readonly late: boolean;
  readonly wave: number;
  readonly attempts: number;
  readonly claim: number;
}

const counterOfLive: Partial<Record<TargetState, string>> = {
  WAITING_DEVICE: 'waitingDevice',
  DISPATCHING: 'inFlight',
  SENT: 'inFlight',
  VERIFYING: 'verifying',
};

/** The counter of a row, computed independently of the SQL. */
function counterOf({ state, outcome }: Row): string {
  if (state !== 'DECIDED') return counterOfLive[state] ?? 'pending';
  return (outcome ?? '').toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** One job and what a careless owner might do to it, old messages and old fences included. */
class RandomJob {
  readonly claimsByDevice = new Map<DeviceId, number>();
  /** Ends that came back as certainly not sent: these may be claimed once more each. */
  readonly returnsByDevice = new Map<DeviceId, number>();
  readonly decided = new Map<DeviceId, string>();
  readonly #everClaimed: ClaimedTarget[] = [];
  openWave = 0;
  #now = AT;

  constructor(
    readonly fixture: JobFixture,
    readonly idempotent: boolean,
    readonly random: (below: number) => number,
    public fence: JobFence,
    readonly devices: readonly DeviceId[],
    readonly waves: number,
  ) {}

  async act(): Promise<string> {
    const { targetPreparation, targetQueue, owner } = this.fixture;
    const at = (this.#now += 100);
    const ownersActs: Readonly<Record<string, () => Promise<unknown>>> = {
      claim: () => this.#claim(at),
      flush: () => this.#flush(at),
      markSent: () => targetQueue.markSent(this.fence, this.#some()),
      wakeSome: () => targetQueue.wakeWaiting(this.fence, this.#some()),
      wakeAll: () => targetQueue.wakeWaiting(this.fence),
      release: () => targetQueue.releaseRetries(this.fence, at),
      openWave: () => this.#openWave(at),
      openTargets: () => targetPreparation.openTargets(this.fence, 1 + this.random(5), at),
      recover: () => targetQueue.recover(this.fence, at, { deadlineMs: 60_000, softMs: 30_000 }),
      verified: () => this.#settleVerifications(at),
      ...(this.random(6) === 0 ? { endNeverSent: () => targetQueue.endNeverSent(this.fence, 'CANCELLED', at) } : {}),
      ...(this.random(3) === 0
        ? { force: () => targetQueue.endInFlight(this.fence, { code: 'SESSION_CLOSED', message: 'not awaited' }, at) }
        : {}),
    };
    const acts: typeof ownersActs = {
      ...ownersActs,
      answerLate: () => this.#answerLate(),
      leave: () => this.fixture.setOnline(this.#any(), false),
      arrive: () => this.fixture.setOnline(this.#any(), true),
      takeOver: async () => (this.fence = (await targetQueue.takeOwnership(this.fence.jobId, owner)) ?? this.fence),
      formerOwner: () => this.#actAsFormerOwner(Object.values(ownersActs)),
    };
    // The two that everything else is about come more often.
    const names = [...Object.keys(acts), 'claim', 'claim', 'claim', 'flush', 'flush', 'flush', 'arrive'];
    const name = names[this.random(names.length)] ?? 'claim';
    await acts[name]?.();
    return name;
  }

  /** None of its operations changes anything. */
  async #actAsFormerOwner(acts: readonly (() => Promise<unknown>)[]): Promise<void> {
    const { fence } = this;
    const before = await this.rows();
    this.fence = { ...fence, fence: fence.fence - 1 };
    await acts[this.random(acts.length)]?.();
    this.fence = fence;
    expect(await this.rows(), 'after an act under an old fence').toEqual(before);
  }

  async #claim(at: number): Promise<void> {
    for (const target of await this.fixture.targetQueue.claim(this.fence, 1 + this.random(5), at)) {
      this.#everClaimed.push(target);
      this.claimsByDevice.set(target.deviceId, (this.claimsByDevice.get(target.deviceId) ?? 0) + 1);
    }
  }

  async #flush(at: number): Promise<void> {
    const before = await this.rows();
    // Mostly ends followed by another claim: the end of an earlier claim must not find its target.
    const again = this.idempotent ? (['ready', 'retry', 'retry'] as const) : (['ready', 'ready'] as const);
    const ends = this.#ends(at, ['decided', 'verifying', 'waiting', ...again]);
    await this.fixture.targetQueue.flush(this.fence, ends);
    const after = new Map((await this.rows()).map((row) => [row.device_id, row]));
    for (const row of before) {
      const isOver = ends.some(({ deviceId, claim }) => deviceId === row.device_id && claim !== row.claim);
      if (isOver) expect(after.get(row.device_id), 'after the end of an older claim').toEqual(row);
      if (row.attempts > (after.get(row.device_id)?.attempts ?? 0))
        this.returnsByDevice.set(row.device_id, (this.returnsByDevice.get(row.device_id) ?? 0) + 1);
    }
  }

  async #settleVerifications(at: number): Promise<void> {
    const ends = this.#ends(at, ['verifying']).map(({ deviceId, claim }) => ({
      deviceId,
      claim,
      to: { kind: 'decided', outcome: 'VERIFY_FAILED', error: { code: 'DID_NOT_RESTART', message: '' } } as const,
    }));
    await this.fixture.targetVerification.settleVerifications(this.fence, ends, at);
  }

  /** Ends of claims that may be long over, and some of them twice in a row. */
  #ends(at: number, kinds: readonly TargetFlush['to']['kind'][]): readonly TargetFlush[] {
    const ends = new Map<DeviceId, TargetFlush>();
    for (let count = this.random(6); count > 0 && this.#everClaimed.length > 0; count -= 1) {
      const target = this.#everClaimed[this.random(this.#everClaimed.length)];
      if (target === undefined) continue;
      const kind = kinds[this.random(kinds.length)] ?? 'decided';
      const outcome = (['SUCCEEDED', 'FAILED', 'UNKNOWN'] as const)[this.random(3)] ?? 'FAILED';
      const to: TargetFlush['to'] =
        kind === 'decided'
          ? {
              kind,
              outcome,
              certainty: 'YES',
              error: undefined,
              result: { content: [], isError: outcome === 'FAILED' },
            }
          : kind === 'verifying'
            ? {
                kind,
                certainty: 'YES',
                error: undefined,
                result: undefined,
                deadlineAt: at + 500,
                softDeadlineAt: undefined,
                readAt: at,
              }
            : kind === 'ready'
              ? { kind, notBefore: at + this.random(300) }
              : kind === 'retry'
                ? {
                    kind,
                    notBefore: at + this.random(300),
                    certainty: 'YES',
                    error: { code: 'TIMEOUT', message: 'no answer' },
                  }
                : { kind };
      ends.set(target.deviceId, { deviceId: target.deviceId, claim: target.claim, to, startedAt: at, at });
    }
    return [...ends.values()];
  }

  async #openWave(at: number): Promise<void> {
    if (this.openWave < this.waves && (await this.fixture.targetPreparation.openWave(this.fence, this.openWave, at)))
      this.openWave += 1;
  }

  /** What devices say about calls that were given up, some of it twice, and not always the same. */
  async #answerLate(): Promise<void> {
    const calls = this.#everClaimed.slice(this.random(this.#everClaimed.length + 1)).slice(0, 3);
    const answers = new Map(
      calls.map(({ callId }) => {
        const outcome = this.random(2) === 0 ? ('SUCCEEDED' as const) : ('FAILED' as const);
        return [callId, { callId, outcome, error: undefined, result: undefined }];
      }),
    );
    await this.fixture.targetQueue.correctUnknown([...answers.values()]);
  }

  #any(): DeviceId {
    return this.#some()[0] ?? ('' as DeviceId);
  }

  #some(): readonly DeviceId[] {
    const from = this.random(this.devices.length);
    return this.devices.slice(from, from + 1 + this.random(4));
  }

  rows(): Promise<readonly Row[]> {
    return this.fixture.db.query<Row & Record<string, unknown>>(
      {
        text: `SELECT device_id, wave, state, outcome, late, attempts, claim FROM job_target
               WHERE job_id = $1 ORDER BY device_id`,
      },
      [this.fence.jobId],
    );
  }

  async expectPromisesKept(story: string): Promise<void> {
    const rows = await this.rows();
    const { total, ...counters } = (await this.fixture.jobs.progress([this.fence.jobId])).get(this.fence.jobId) ?? {
      total: -1,
    };
    const expected = new Map<string, number>();
    for (const row of rows) expected.set(counterOf(row), (expected.get(counterOf(row)) ?? 0) + 1);
    expect(Object.fromEntries(Object.entries(counters).filter(([, count]) => count !== 0)), story).toEqual(
      Object.fromEntries(expected),
    );
    expect(total, story).toBe(DEVICES);
    expect(rows, story).toHaveLength(DEVICES);
    for (const { attempts, device_id: deviceId, state, outcome, late, wave } of rows) {
      const former = this.decided.get(deviceId);
      if (former !== undefined) {
        expect(state, story).toBe('DECIDED');
        expect(former === 'UNKNOWN' && late ? ['SUCCEEDED', 'FAILED'] : [former], story).toContain(outcome);
      }
      // Nothing of a wave is sent before it is open.
      if (this.waves > 0 && wave > Math.max(1, this.openWave)) expect(['PENDING', 'DECIDED'], story).toContain(state);
      if (outcome !== null) this.decided.set(deviceId, outcome);
      // What must not run twice is not even in line again once it may have been sent.
      if (!this.idempotent && attempts > 0)
        expect(['DISPATCHING', 'SENT', 'VERIFYING', 'DECIDED'], story).toContain(state);
      if (!this.idempotent)
        expect(this.claimsByDevice.get(deviceId) ?? 0, story).toBeLessThanOrEqual(
          1 + (this.returnsByDevice.get(deviceId) ?? 0),
        );
    }
  }
}

describe('the targets of a job under any sequence of statements', () => {
  let fixture: JobFixture;
  let devices: readonly DeviceId[];

  beforeAll(async () => {
    fixture = await openJobFixture();
    devices = await fixture.addDevices(DEVICES);
  });
  afterAll(() => fixture.close());

  it.each([false, true])(
    `keeps its promises in ${RUNS} random lives (idempotent: %s)`,
    { timeout: RUNS * 5_000 },
    async (idempotent) => {
      for (let seed = 1; seed <= RUNS; seed += 1) {
        const random = randomOf(seed * 2 + Number(idempotent));
        const sizes = seed % 4 < 2 ? [] : [2, 4, DEVICES - 6];
        const fence = await fixture.runningJob({ idempotent, verification: seed % 2 === 0 ? 'REBOOT' : 'NONE' }, sizes);
        const job = new RandomJob(fixture, idempotent, random, fence, devices, sizes.length);
        const story = [`seed ${seed}`];
        for (let acts = 0; acts < ACTS_PER_RUN; acts += 1) {
          story.push(await job.act());
          await job.expectPromisesKept(story.join(' '));
        }
        expect(await fixture.jobCommands.reconcile(job.fence.jobId), story.join(' ')).toBe(0);
      }
    },
  );
});
