import { FlotillaError, type FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { captured } from './console/captured-output.suite.js';
import { followJob, runJob } from './run-job.js';

const others = {
  pending: 0,
  waitingDevice: 0,
  inFlight: 0,
  verifying: 0,
  noChange: 0,
  failed: 0,
  rejected: 0,
  verifyFailed: 0,
  unknown: 0,
  expired: 0,
  cancelled: 0,
  skipped: 0,
};

const tooLate = 'The time ran out before the job was approved or its devices were known. Nothing was sent.';

/** A hub whose job has ended so on so many devices. */
const clientOf = (total: number, conclusion: string) =>
  ({
    async *followJob(id: string) {
      const progress = { ...others, total, succeeded: total };
      yield { id, state: 'FINISHED', conclusion, pauseReason: null, progress };
    },
  }) as unknown as FlotillaClient;

it('names a job that cannot be followed, so that no person creates it twice', async () => {
  const client = {
    createJob: () => Promise.resolve({ id: 'job-1' }),
    async *followJob() {
      throw new Error('JOBS_READ is missing.');
    },
  } as unknown as FlotillaClient;
  const input = { firmwareImageId: 'image', devices: { all: true } };
  const { result, stderr } = await captured(() =>
    runJob(client, input, { follow: true, yes: true }).catch((error: unknown) => String(error)),
  );
  expect(result).toBe('Error: JOBS_READ is missing.');
  expect(stderr).toContain('The job job-1 exists. Follow it with: flotilla jobs follow job-1');
});

it('names the start that was sent where its answer is lost, because 2h is another time later', async () => {
  const client = { createJob: () => Promise.reject(new FlotillaError('TIMEOUT', 'x')) } as unknown as FlotillaClient;
  const input = { firmwareImageId: 'image', devices: { all: true }, startAt: '2026-01-31T22:00:00.000Z' };
  const { stderr } = await captured(() =>
    runJob(client, input, { 'start-at': '2h', yes: true }).catch((error: unknown) => String(error)),
  );
  expect(stderr).toContain('and with --start-at 2026-01-31T22:00:00.000Z in place of the typed time');
});

describe('a job that is followed', () => {
  it.each([
    ['SUCCEEDED', 1, 0, 'SUCCEEDED: 1 of 1'],
    ['SUCCEEDED', 0, 3, 'SUCCEEDED: 0 of 0\nThe filter matches no devices. Check it with --preview.'],
    ['CANCELLED', 0, 3, 'CANCELLED: 0 of 0\nThe job was cancelled before its devices were known. Nothing was sent.'],
    ['EXPIRED', 0, 3, `EXPIRED: 0 of 0\n${tooLate}`],
    ['DENIED', 0, 3, 'DENIED: 0 of 0\nThe job was not approved. Nothing was sent.'],
  ])('and ends %s on %i devices has the exit code %i', async (conclusion, total, code, message) => {
    const { result, stderr } = await captured(() => followJob(clientOf(total, conclusion), 'a', { output: 'json' }));
    expect([result, stderr.trim()]).toEqual([code, message]);
  });
});
