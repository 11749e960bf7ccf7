import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallRules } from './calls/call-rules.js';
import { admin, openHub } from './fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from './fleet-fixture.suite.js';
import { TickWorker } from './worker/tick-worker.js';
import { quickVerification, silent } from './fleet-fixture.suite.js';

/** What is no plain URL of the one allowed origin, https://files.example. */
const forbidden = fc.oneof(
  fc.webUrl({ withQueryParameters: true }).filter((url) => new URL(url).origin !== 'https://files.example'),
  fc.constantFrom(
    'https://files.example.evil.test/x.bin',
    'https://files.example@evil.test/x.bin',
    'https://user:pw@files.example/x.bin',
    'http://files.example/x.bin',
    'https://files.example:8443/x.bin',
    'https:\\\\files.example\\x.bin',
    'https://files.example\\@evil.test/',
    'HTTPS://files.example/x.bin',
    ' https://files.example/x.bin',
    'https://files.example/a/../x.bin',
    'file:///etc/passwd',
    'javascript:alert(1)',
    '//files.example/x.bin',
    '',
  ),
);

/** Invariant 9 holds for every caller on every path. */
describe('a URL that devices may not open', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    await hub.connect(['board']);
  });
  afterAll(() => fixture.close());

  it('reaches no device by a single call, and creates no job', async () => {
    const jobs = await hub.registry.jobs.liveCount();
    await fc.assert(
      fc.asyncProperty(forbidden, async (url) => {
        const call = { tool: 'self.upgrade_firmware', arguments: { url } };
        expect((await hub.fleet.callTool({ deviceId: 'board', ...call }, admin)).refusal?.code).toBe('URL_FORBIDDEN');
        const job = await hub.fleet.createJob({ ...call, devices: { all: true } }, randomUUID(), admin);
        expect(job).toMatchObject({ refusal: { code: 'URL_FORBIDDEN' } });
      }),
      { numRuns: 40 },
    );
    expect(hub.gateway.callCount).toBe(0);
    expect(await hub.registry.jobs.liveCount()).toBe(jobs);
  });

  it('reaches no device by a job that was made while it was allowed', async () => {
    const call = { tool: 'self.upgrade_firmware', arguments: { url: 'https://files.example/x.bin' } };
    const { job } = await hub.fleet.createJob({ ...call, devices: { all: true } }, randomUUID(), admin);
    if (job === undefined) throw new TypeError('No job.');
    const callRules = new CallRules([]);
    const worker = new TickWorker({ ...hub, logger: silent, callRules, verification: quickVerification });
    await worker.start();
    await hub.finished(job.id);
    await hub.clock.during(worker.stop());
    expect(await hub.progress(job.id)).toMatchObject({ rejected: 1, total: 1 });
    expect(hub.gateway.callCount).toBe(0);
  });
});
