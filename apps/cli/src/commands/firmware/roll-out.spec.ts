import type { FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { captured } from '../../console/captured-output.suite.js';
import { followAll } from './roll-out.js';

const progress = {
  total: 1,
  pending: 0,
  waitingDevice: 0,
  inFlight: 0,
  verifying: 0,
  succeeded: 1,
  noChange: 0,
  failed: 0,
  rejected: 0,
  verifyFailed: 0,
  unknown: 0,
  expired: 0,
  cancelled: 0,
  skipped: 0,
};
const client = {
  async *followJob(id: string) {
    yield { id, state: 'FINISHED', conclusion: id === 'b' ? 'FAILED' : 'SUCCEEDED', pauseReason: null, progress };
  },
} as unknown as FlotillaClient;

describe('the jobs of a revert', () => {
  it('are one JSON array when all have ended', async () => {
    const jobs = [{ id: 'a' }, { id: 'b' }];
    const { result, stdout } = await captured(() => followAll(client, jobs, { output: 'json' }));
    expect([result, JSON.parse(stdout)]).toMatchObject([3, [{ conclusion: 'SUCCEEDED' }, { conclusion: 'FAILED' }]]);
  });

  it('are followed to their ends and printed with all columns, where one is unknown', async () => {
    const jobs = [{ id: 'a' }, { id: 'b' }];
    const { result, stdout, stderr } = await captured(() =>
      followAll(client, jobs, { output: 'jsonl', columns: 'id,status' }),
    );
    const ends = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect([result, ends]).toMatchObject([
      3,
      [
        { id: 'a', conclusion: 'SUCCEEDED' },
        { id: 'b', conclusion: 'FAILED' },
      ],
    ]);
    expect(stderr.match(/There is no column "status"\./g)).toHaveLength(1);
  });
});
