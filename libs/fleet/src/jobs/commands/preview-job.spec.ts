import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boardTools, deviceNames, openHub, operator } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';
import type { JobRequest } from './job-request.js';

const volume = (change: Partial<JobRequest> = {}): JobRequest => ({
  tool: 'self.audio_speaker.set_volume',
  arguments: { volume: 5 },
  devices: { all: true },
  ...change,
});

describe('the preview of a job', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    await hub.connect(deviceNames(10, 'loud'));
    await hub.connect(deviceNames(4, 'mute'), boardTools.slice(0, 1));
    await hub.disconnect('loud-00000');
  });
  afterAll(() => fixture.close());

  it('counts what the job then has, and makes nothing', async () => {
    const live = await hub.registry.jobs.liveCount();
    const preview = await hub.fleet.previewJob(volume({ offline: 'SKIP' }), operator);
    expect(preview).toMatchObject({
      targetCount: 14,
      onlineCount: 13,
      missingToolCount: 4,
      argumentErrors: [],
      waves: [],
      refusal: undefined,
    });
    expect(preview.sample.map(({ id }) => id)).toEqual(deviceNames(5, 'loud'));
    expect(await hub.registry.jobs.liveCount()).toBe(live);
    const { job } = await hub.fleet.createJob(volume({ offline: 'SKIP' }), randomUUID(), operator);
    if (job === undefined) throw new TypeError('No job.');
    await hub.finished(job.id);
    expect(await hub.progress(job.id)).toMatchObject({ total: 14, succeeded: 9, skipped: 1, rejected: 4 });
  });

  it('reports wrong arguments once for all devices of one firmware', async () => {
    const { argumentErrors, missingToolCount } = await hub.fleet.previewJob(
      volume({ arguments: { volume: 500 } }),
      operator,
    );
    expect(argumentErrors).toEqual([{ message: expect.stringContaining('volume'), deviceCount: 10 }]);
    expect(missingToolCount).toBe(4);
  });

  it('shows waves of the devices that have the tool, the time of a pace, and how far a bad one may go', async () => {
    const wave = { successThreshold: 1, soakSeconds: 30, gate: 'AUTO' } as const;
    const abort = [{ outcomes: ['FAILED', 'UNKNOWN'], scope: 'JOB', count: 2, action: 'PAUSE' }] as const;
    const asked = volume({
      waves: [
        { ...wave, count: 2 },
        { ...wave, percent: 50 },
      ],
      perMinute: 7,
      maxInFlight: 1,
      abort,
    });
    expect(await hub.fleet.previewJob(asked, operator)).toMatchObject({
      waves: [2, 3, 5],
      estimatedSeconds: 146,
      blastRadius: 2,
    });
    const unguarded = { ...asked, waves: [], maxAttempts: 1 };
    expect(await hub.fleet.previewJob(unguarded, operator), 'two failures, one in flight, one batch').toMatchObject({
      blastRadius: 4,
    });
  });

  it.each<[string, Partial<JobRequest>, string]>([
    ['an empty filter', { devices: {} }, 'INVALID'],
    ['a group that is not there', { devices: { groupId: randomUUID() } }, 'NOT_FOUND'],
    ['a start in the past', { startAt: 1 }, 'INVALID'],
    ['a tool for users only', { tool: 'self.reboot', arguments: {} }, 'TOOL_FORBIDDEN'],
    ['an upgrade', { tool: 'self.upgrade_firmware', arguments: { url: 'https://files.example/x' } }, 'TOOL_FORBIDDEN'],
    [
      'a URL that is not allowed',
      { tool: 'self.upgrade_firmware', arguments: { url: 'https://evil.example/x' } },
      'URL_FORBIDDEN',
    ],
  ])('says what createJob would say to %s', async (_, change, code) => {
    expect((await hub.fleet.previewJob(volume(change), operator)).refusal?.code).toBe(code);
    expect((await hub.fleet.createJob(volume(change), randomUUID(), operator)).refusal?.code).toBe(code);
  });
});
