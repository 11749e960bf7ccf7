/**
 * Approval of disruptive jobs in a real Chromium: another key approves or denies the job with a
 * reason.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { ask } from '../src/api/graphql-client.js';
import { keyOfPerson, signedInPerson } from '../src/api/second-person.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { jobOf, online, readJob } from '../src/jobs/job-api.js';
import { type SimulatedFleet, startFleet } from '../src/devices/simulated-fleet.js';
import { PATIENCE } from '../src/patience.js';

describe.skipIf(!isChromiumInstalled())('approvals in the console', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let maker: ConsolePage;
  let other: ConsolePage;
  let jobsOnly: ConsolePage;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub({ env: { FLOTILLA_APPROVALS: 'on' } }), openBrowser()]);
    fleet = startFleet(hub, { devices: 2, seed: 11, args: ['--speed', '20'] });
    await online(hub, 2);
    const person = await signedInPerson(hub);
    const jobs = ['DEVICES_READ', 'JOBS_READ', 'JOBS_WRITE'] as const;
    const secret = await keyOfPerson(person, [...jobs, 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED']);
    maker = await openConsole(browser, hub);
    other = await openConsole(browser, hub, { key: secret });
    jobsOnly = await openConsole(browser, hub, { key: await keyOfPerson(person, [...jobs]) });
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet], consoles: [maker, other, jobsOnly] }));

  const restart = (key: string) =>
    jobOf(hub, { name: `Restart ${key}`, tool: 'self.reboot', devices: { all: true } }, key);

  it('starts a job when another person approves it, and not before', async () => {
    const id = await restart('approved');
    await maker.visit(`/jobs/${id}`);
    await maker.page.getByText('This job waits for approval').waitFor();
    await maker.page.getByText('The approval covers 2 devices').waitFor();
    expect(await seriousViolations(maker.page)).toEqual([]);
    expect(await maker.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await maker.page.getByRole('button', { name: 'Deny' }).count()).toBe(0);
    expect(await readJob(hub, id)).toMatchObject({ state: 'AWAITING_APPROVAL' });
    await other.visit(`/jobs/${id}`);
    await other.page.getByRole('button', { name: 'Approve' }).click();
    await other.page
      .getByRole('status')
      .getByText('Succeeded', { exact: true })
      .waitFor({ timeout: 60_000 * PATIENCE });
    await maker.page.getByRole('status').getByText('Succeeded', { exact: true }).waitFor();
  });

  it('names the scope that is missing to approve a job, which a person may still deny', async () => {
    const id = await restart('guarded');
    await jobsOnly.visit(`/jobs/${id}`);
    await jobsOnly.page.getByText('Approving it needs the scope TOOLS_CALL, which you do not have.').waitFor();
    expect(await jobsOnly.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await jobsOnly.page.getByRole('button', { name: 'Deny' }).count()).toBe(1);
    expect(await seriousViolations(jobsOnly.page)).toEqual([]);
  });

  it('ends a job that another person denies, with the reason', async () => {
    const id = await restart('denied');
    await other.visit(`/jobs/${id}`);
    await other.page.getByRole('button', { name: 'Deny' }).click();
    const dialog = other.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Deny' }).click();
    await dialog.getByText('Enter a reason.').waitFor();
    expect(await seriousViolations(other.page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('Not during opening hours');
    await dialog.getByRole('button', { name: 'Deny' }).click();
    await other.page.getByRole('status').getByText('Denied').waitFor();
    const trail = await ask<{ auditEntries: { nodes: readonly object[] } }>(
      hub,
      '{ auditEntries(first: 20) { nodes { subject data } } }',
    );
    const denial = {
      subject: `job:${id}`,
      data: expect.objectContaining({ reason: 'Not during opening hours' }) as unknown,
    };
    expect(trail.auditEntries.nodes).toContainEqual(denial);
    expect(await fleet.counts()).toMatchObject({ tools: { 'self.reboot': 2 } });
  });
});
