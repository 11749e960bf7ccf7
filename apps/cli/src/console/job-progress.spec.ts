import { PassThrough } from 'node:stream';
import type { JobStatusFragment } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { captured } from './captured-output.suite.js';
import { decidedOf, stateOf, troublesOf, viewJob } from './job-progress.js';

const progress = {
  total: 10,
  pending: 2,
  waitingDevice: 1,
  inFlight: 1,
  verifying: 1,
  succeeded: 2,
  noChange: 0,
  failed: 1,
  rejected: 0,
  verifyFailed: 2,
  unknown: 0,
  expired: 0,
  cancelled: 0,
  skipped: 0,
};
const job = { state: 'RUNNING', conclusion: null, pauseReason: null, progress } as unknown as JobStatusFragment;

describe('the progress of a job', () => {
  it('counts what is decided, and names what did not succeed', () => {
    expect(decidedOf(job)).toBe(5);
    expect(troublesOf(job)).toBe('1 failed, 2 not verified');
    expect(troublesOf({ progress: { ...progress, failed: 0, verifyFailed: 0 } })).toBe('');
  });

  it('is its state with the reason of a pause, and its conclusion at the end', () => {
    const running = { state: 'RUNNING', conclusion: null, pauseReason: null } as const;
    expect(stateOf(running)).toBe('RUNNING');
    expect(stateOf({ ...running, state: 'PAUSED', pauseReason: 'OPERATOR' })).toBe('PAUSED (OPERATOR)');
    expect(stateOf({ ...running, state: 'FINISHED', conclusion: 'SUCCEEDED' })).toBe('SUCCEEDED');
  });

  it('is one line per change without a terminal', async () => {
    const notTerminal = Object.assign(new PassThrough(), { isTTY: false }) as unknown as NodeJS.WriteStream;
    const { stderr } = await captured(() => {
      const view = viewJob(notTerminal);
      view.show(job);
      view.show(job);
      view.show({ ...job, progress: { ...job.progress, pending: 0, succeeded: 4 } });
      view.end();
    });
    expect(stderr).toBe('RUNNING: 5 of 10, 1 failed, 2 not verified\nRUNNING: 7 of 10, 1 failed, 2 not verified\n');
  });
});
