import type { FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { captured } from './console/captured-output.suite.js';
import { followJob } from './run-job.js';

const others = {
  ...{ pending: 0, waitingDevice: 0, inFlight: 0, verifying: 0, noChange: 0, failed: 0, rejected: 0 },
  ...{ verifyFailed: 0, unknown: 0, expired: 0, cancelled: 0, skipped: 0 },
};

/** A hub whose job has ended with success on so many devices. */
const clientOf = (total: number) =>
  ({
    async *followJob(id: string) {
      const progress = { ...others, total, succeeded: total };
      yield { id, state: 'FINISHED', conclusion: 'SUCCEEDED', pauseReason: null, progress };
    },
  }) as unknown as FlotillaClient;

describe('a job that is followed', () => {
  it.each([
    [1, 0, 'SUCCEEDED: 1 of 1'],
    [0, 3, 'SUCCEEDED: 0 of 0\nThe filter matches no devices. Check it with --preview.'],
  ])('of %i devices ends with the exit code %i', async (total, code, message) => {
    const { result, stderr } = await captured(() => followJob(clientOf(total), 'a', { output: 'json' }));
    expect([result, stderr.trim()]).toEqual([code, message]);
  });
});
