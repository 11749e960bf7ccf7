import { expect, it } from 'vitest';
import { openJobFixture } from '../job-fixture.suite.js';

const FLEET = 5_010;

it('wakes all waiting targets, also if they are more than one statement changes', async () => {
  const fixture = await openJobFixture();
  try {
    const deviceIds = await fixture.addDevices(FLEET);
    const fence = await fixture.runningJob();
    const wait = () =>
      fixture.db.query({ text: `UPDATE job_target SET state = 'WAITING_DEVICE' WHERE job_id = $1` }, [fence.jobId]);
    await wait();
    expect(await fixture.targetQueue.wakeWaiting(fence)).toBe(FLEET);
    await wait();
    expect(await fixture.targetQueue.wakeWaiting(fence, deviceIds)).toBe(FLEET);
    expect(await fixture.targetQueue.wakeWaiting(fence)).toBe(0);
  } finally {
    await fixture.close();
  }
});
