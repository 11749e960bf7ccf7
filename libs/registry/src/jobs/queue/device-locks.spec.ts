/**
 * A device in a disruptive job is locked for other jobs until its target is decided, also if
 * processes are killed meanwhile. The rows of targets are the locks. [jobs §16]
 */
import type { DeviceId } from '@flotilla/mcp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewJob } from '../commands/new-job.js';
import type { JobFence } from '../job-fence.js';
import type { TargetFlush } from './target-flush.js';
import type { ClaimedTarget } from './target-queue.js';
import { pageOfCalls } from '../../calls/call-pages.js';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT } from '../new-job.suite.js';

const FLEET = 8;
const times = { deadlineMs: 300_000, softMs: undefined };
const restart = { tool: 'self.reboot', disruptive: true, disconnectExpected: true, verification: 'REBOOT' } as const;
const retried = { tool: 'self.audio_speaker.set_volume', idempotent: true, maxAttempts: 3 } as const;

describe('a device that a disruptive job holds', () => {
  let fixture: JobFixture;
  let devices: readonly DeviceId[];

  beforeEach(async () => {
    fixture = await openJobFixture();
    devices = await fixture.addDevices(FLEET);
  });
  afterEach(() => fixture.close());

  const claim = ({ disruptive }: Partial<NewJob>, fence: JobFence, limit = FLEET) =>
    fixture.targetQueue.claim(fence, limit, AT, disruptive === true);

  async function flush(fence: JobFence, targets: readonly ClaimedTarget[], to: TargetFlush['to']): Promise<void> {
    await fixture.targetQueue.flush(
      fence,
      targets.map(({ deviceId, claim }) => ({ deviceId, claim, to, startedAt: AT, at: AT })),
    );
  }

  /** A kill and a restart: a process takes over the job and classifies the targets in flight. */
  async function takenOver({ jobId }: JobFence): Promise<JobFence> {
    const fence = await fixture.targetQueue.takeOwnership(jobId, fixture.owner);
    if (fence === undefined) throw new Error('not taken over');
    await fixture.targetQueue.recover(fence, AT, times);
    await fixture.targetVerification.extendVerifying(fence, AT + 120_000);
    return fence;
  }

  const verifying = {
    kind: 'verifying',
    certainty: 'YES',
    error: undefined,
    result: undefined,
    readAt: undefined,
    deadlineAt: AT + 300_000,
    softDeadlineAt: undefined,
  } as const;
  const unverified = {
    kind: 'decided',
    outcome: 'VERIFY_FAILED',
    error: { code: 'DID_NOT_RESTART', message: '' },
  } as const;

  it.each(['DISPATCHING', 'SENT', 'VERIFYING'] as const)(
    'is passed over by plain jobs while its target is %s',
    async (state) => {
      const plain = await fixture.runningJob(retried);
      const holder = await fixture.runningJob(restart);
      const held = await claim(restart, holder, 3);
      if (state === 'SENT') await fixture.targetQueue.markSent(holder, devices);
      if (state === 'VERIFYING') await flush(holder, held, verifying);
      const taken = await claim(retried, plain);
      expect(namesOf([...taken, ...held])).toEqual(devices);
      await flush(holder, held, {
        kind: 'decided',
        outcome: 'FAILED',
        certainty: 'YES',
        error: undefined,
        result: undefined,
      });
      await fixture.targetVerification.settleVerifications(
        holder,
        held.map(({ deviceId, claim }) => ({ deviceId, claim, to: unverified })),
        AT,
      );
      expect(namesOf(await claim(retried, plain))).toEqual(namesOf(held));
    },
  );

  it.each([
    ['the plain job is taken over first', false],
    ['the disruptive job is taken over first', true],
  ])('stays held over a kill of both owners: %s', async (_, isHolderFirst) => {
    const [plain, holder] = [await fixture.runningJob(retried), await fixture.runningJob(restart)];
    // The disruptive job has half of the fleet in flight or in verification; the plain job has the
    // other half in flight.
    const held = await claim(restart, holder, FLEET / 2);
    await flush(holder, held.slice(0, 2), verifying);
    const inFlight = await claim(retried, plain);
    expect(inFlight).toHaveLength(FLEET / 2);
    // A device that is not recovered yet is as much held as one that is.
    const [first, second] = isHolderFirst ? [holder, plain] : [plain, holder];
    const taken = new Map([[first, await takenOver(first)]]);
    if (!isHolderFirst) expect(namesOf(await claim(retried, taken.get(plain) as JobFence))).toEqual(namesOf(inFlight));
    else expect(await claim(restart, taken.get(holder) as JobFence)).toEqual([]);
    taken.set(second, await takenOver(second));
    const again = await claim(retried, taken.get(plain) as JobFence);
    expect(namesOf(again)).toEqual(isHolderFirst ? namesOf(inFlight) : []);
    expect(namesOf(await claim(restart, taken.get(holder) as JobFence))).toEqual([]);
  });

  it('is not held by a paused or cancelled job any less', async () => {
    const plain = await fixture.runningJob(retried);
    const holder = await fixture.runningJob(restart);
    await flush(holder, await claim(restart, holder), verifying);
    for (const state of ['PAUSED', 'CANCELLING'] as const) {
      const job = await fixture.jobs.find(holder.jobId);
      if (job) await fixture.jobCommands.transition(job, { state }, AT);
      expect(await claim(retried, plain)).toEqual([]);
    }
  });

  it('does not count the time after a kill as duration of a call, and explains its unknown outcome', async () => {
    const plain = await fixture.runningJob(retried);
    const [cutOff] = await claim(retried, plain, 1);
    const successor = await takenOver(plain);
    await fixture.targetQueue.endNeverSent(successor, 'CANCELLED', AT + 60_000);
    const { rows: calls } = await pageOfCalls(fixture.db, { jobId: plain.jobId }, { first: 10 });
    expect(calls).toMatchObject([
      {
        id: cutOff?.callId,
        outcome: 'UNKNOWN',
        startedAt: AT,
        durationMs: undefined,
        error: { code: 'HUB_RESTARTED' },
      },
    ]);
    const [page] = await fixture.jobs.targets([plain.jobId], { outcomes: ['UNKNOWN'] }, { first: 10 });
    expect(page?.rows).toMatchObject([{ deviceId: cutOff?.deviceId, attempts: 1, error: { code: 'HUB_RESTARTED' } }]);
  });

  it('is taken by one of them where a plain and disruptive jobs claim at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const kinds = [retried, restart, retried, restart];
      const fences = await Promise.all(kinds.map((kind) => fixture.runningJob(kind)));
      const claims = await Promise.all(fences.map((fence, index) => claim(kinds[index] ?? retried, fence)));
      const disruptive = namesOf(claims.flatMap((targets, index) => (kinds[index] === restart ? targets : [])));
      const plain = new Set(
        claims.flatMap((targets, index) => (kinds[index] === restart ? [] : targets)).map(({ deviceId }) => deviceId),
      );
      expect(new Set(disruptive).size).toBe(disruptive.length);
      expect(disruptive.filter((deviceId) => plain.has(deviceId))).toEqual([]);
      for (const fence of fences)
        await fixture.targetQueue.endInFlight(fence, { code: 'SESSION_CLOSED', message: '' }, AT);
      for (const fence of fences) await fixture.targetQueue.endNeverSent(fence, 'CANCELLED', AT);
    }
  });
});

function namesOf(targets: readonly ClaimedTarget[]): readonly DeviceId[] {
  return targets.map(({ deviceId }) => deviceId).sort();
}
