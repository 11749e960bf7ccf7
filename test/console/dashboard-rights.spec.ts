/** The console offers a viewer with few rights what the hub allows, and says what is missing. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, send } from '../src/api/graphql-client.js';
import { type ConsolePage, isChromiumInstalled, openBrowser, openConsole } from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { makeImage, publishedImage } from '../src/jobs/firmware-image.js';
import { createDesiredState } from '../src/jobs/desired-state-api.js';
import { jobOf, online } from '../src/jobs/job-api.js';

describe.skipIf(!isChromiumInstalled())('the console of a viewer with few rights', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let device: string;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
    fleet = startFleet(hub, { devices: 2 });
    await online(hub, 2);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(hub, '{ devices { nodes { id } } }');
    device = devices.nodes[0]?.id ?? '';
    const group = `mutation ($input: DeviceGroupInput!) {
      createDeviceGroup(input: $input) { userErrors { message } } }`;
    await ask(hub, group, { input: { name: 'Lobby', filter: { search: device } } });
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet], consoles: [] }));

  /** Also fails if the hub refuses anything that the page asks. */
  const asKey = async (input: object, look: (console: ConsolePage, key: string) => Promise<void>) => {
    const { createApiKey } = await ask<{ createApiKey: { secret: string } }>(
      hub,
      'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
      { input },
    );
    const console = await openConsole(browser, hub, { key: createApiKey.secret });
    const refused: string[] = [];
    console.page.on('response', async (response) => {
      const text = response.url().endsWith('/graphql') ? await response.text().catch(() => '') : '';
      if (text.includes('"code":"FORBIDDEN"')) refused.push(text);
    });
    await look(console, createApiKey.secret);
    expect(refused).toEqual([]);
    expect(console.complaints).toEqual([]);
    await console.close();
  };

  it('lists only the shortcuts of pages that can be opened', async () => {
    await asKey({ name: 'Events', scopes: ['EVENTS_READ'] }, async ({ page, visit }) => {
      await visit('/events');
      await page.getByRole('button', { name: 'Pause' }).waitFor();
      await page.keyboard.press('?');
      const pages = page.getByRole('dialog').getByRole('table', { name: 'Go to a page' });
      await expect.poll(() => pages.getByRole('rowheader').allInnerTexts()).toEqual(['Alerts', 'Events']);
    });
  });

  it('offers a limited key nothing that affects the whole fleet', async () => {
    const scopes = ['DEVICES_READ', 'DEVICES_WRITE', 'EVENTS_READ', 'FIRMWARE_WRITE'];
    await asKey({ name: 'Lobby', scopes, devices: { ids: [device] } }, async ({ page, visit }) => {
      await visit('/devices?presence=ONLINE');
      await page.getByRole('button', { name: 'Groups' }).click();
      await page.getByRole('button', { name: 'Lobby', exact: true }).waitFor();
      const menu = page.getByRole('dialog');
      expect(await menu.getByRole('button', { name: /Save|Edit|Delete/ }).count()).toBe(0);
      await visit('/enrolments');
      await page.getByRole('button', { name: 'Add devices' }).click();
      await page.getByRole('tab', { name: 'CSV file' }).waitFor();
      expect(await page.getByRole('tab', { name: 'Code' }).count()).toBe(0);
      await visit('/alerts?view=rules');
      await page.getByRole('region', { name: 'Hub unhealthy' }).waitFor();
      expect(await page.getByRole('button', { name: /Snooze/ }).count()).toBe(0);
      await visit('/firmware');
      await page.getByText('No images yet').waitFor();
      expect(await page.getByText(/^Drop the/).count()).toBe(0);
      await visit(`/devices/${device}`);
      await page.getByRole('button', { name: 'Edit' }).click();
      await menu.getByRole('textbox', { name: 'Name' }).waitFor();
      await menu.getByText('Transport', { exact: true }).waitFor();
      expect(await menu.getByLabel('Voice servers').count()).toBe(0);
    });
  });

  it('offers no new job without the scope for tools or for roll-outs', async () => {
    const scopes = ['DEVICES_READ', 'JOBS_READ', 'JOBS_WRITE'];
    await asKey({ name: 'Steering', scopes }, async ({ page, visit }) => {
      await visit('/devices');
      await page.getByRole('row').nth(2).waitFor();
      expect(await page.getByText(/^New job/).count()).toBe(0);
      await visit('/jobs/new');
      await page.getByText('This page needs the scope TOOLS_CALL.', { exact: false }).waitFor();
    });
  });

  it('offers no new job to one who could not see it', async () => {
    const scopes = ['DEVICES_READ', 'JOBS_WRITE', 'TOOLS_CALL'];
    await asKey({ name: 'Blind', scopes }, async ({ page, visit }) => {
      await visit('/devices');
      await page.getByRole('row').nth(2).waitFor();
      expect(await page.getByText(/^New job/).count()).toBe(0);
    });
  });

  it('lets one who steers jobs disable a schedule, and an operator start only those of tools', async () => {
    const firmwareImageId = await publishedImage(hub, makeImage({ version: '9.1.0' }), ['bread-compact-wifi']);
    const save = `mutation ($input: RecurringJobInput!, $key: String!) {
      createRecurringJob(input: $input, idempotencyKey: $key) { recurringJob { id } userErrors { message } } }`;
    const jobs = {
      Status: { tool: 'self.get_device_status', arguments: {} },
      Restart: { tool: 'self.reboot', arguments: {} },
      Update: { firmwareImageId },
    };
    for (const [name, job] of Object.entries(jobs)) {
      const input = { name, cron: '0 4 1 1 *', timeZone: 'UTC', job: { ...job, devices: { all: true } } };
      const { createRecurringJob } = await ask<{ createRecurringJob: object }>(hub, save, { input, key: name });
      expect(createRecurringJob).toMatchObject({ userErrors: [] });
    }
    const operator = ['DEVICES_READ', 'JOBS_READ', 'EVENTS_READ', 'DEVICES_WRITE', 'TOOLS_CALL', 'JOBS_WRITE'];
    await asKey({ name: 'Operator', scopes: operator }, async ({ page, visit }) => {
      await visit('/recurring');
      const card = (name: string) => page.getByRole('region', { name, exact: true });
      await card('Status').getByRole('button', { name: 'Run now' }).waitFor();
      for (const name of ['Update', 'Restart']) {
        await card(name).getByText('needs the scope TOOLS_CALL_PRIVILEGED', { exact: false }).waitFor();
        expect(
          await card(name)
            .getByRole('button', { name: /Run now|Edit/ })
            .count(),
        ).toBe(0);
      }
      const enabled = card('Update').getByRole('switch', { name: 'Enabled' });
      await enabled.click();
      await card('Update').getByText('Disabled').waitFor();
      await expect.poll(() => enabled.isDisabled()).toBe(true);
    });
    await asKey({ name: 'Steering', scopes: ['JOBS_READ', 'JOBS_WRITE'] }, async ({ page, visit }) => {
      await visit('/recurring');
      const status = page.getByRole('region', { name: 'Status', exact: true });
      await status.getByRole('switch', { name: 'Enabled' }).click();
      await status.getByText('Disabled').waitFor();
      expect(await status.getByRole('button', { name: /Run now|Edit/ }).count()).toBe(0);
    });
  });

  it('offers a limited key to control what it created, and says who controls the rest', async () => {
    const tool = 'self.get_device_status';
    const all = { devices: { all: true } };
    const waves = [{ count: 1, gate: 'MANUAL' }];
    const wide = await jobOf(hub, { name: 'Wide', tool, ...all, waves }, 'wide');
    const volume = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 30 }, mode: 'REPORT' };
    const state = await createDesiredState(hub, { name: 'Wide', ...volume, ...all }, 'wide');
    const scopes = ['DEVICES_READ', 'JOBS_READ', 'JOBS_WRITE', 'TOOLS_CALL'];
    await asKey({ name: 'Half', scopes, devices: { ids: [device] } }, async ({ page, visit }, key) => {
      const schedule = { name: 'Half', cron: '0 4 1 1 *', timeZone: 'UTC', job: { tool, arguments: {}, ...all } };
      const startAt = new Date(Date.now() + 3_600_000).toISOString();
      const made = await send(
        hub,
        `mutation ($job: CreateJobInput!, $schedule: RecurringJobInput!, $state: DesiredStateInput!) {
          createJob(input: $job, idempotencyKey: "half") { job { id } }
          createRecurringJob(input: $schedule, idempotencyKey: "half") { recurringJob { id } }
          createDesiredState(input: $state, idempotencyKey: "half") { desiredState { id } } }`,
        { job: { tool, ...all, startAt }, schedule, state: { name: 'Half', ...volume, ...all } },
        key,
      );
      const own = made.data as {
        createJob: { job: { id: string } };
        createRecurringJob: { recurringJob: { id: string } };
        createDesiredState: { desiredState: { id: string } };
      };
      const buttons = (name: RegExp) => page.getByRole('main').getByRole('button', { name });
      const job = page.getByRole('region', { name: 'Your key cannot control this job' });
      await visit(`/jobs/${wide}`);
      await job.getByText('A person, or a key for all of its devices, can', { exact: false }).waitFor();
      expect(await buttons(/Pause|Resume|Cancel job|Open the next wave/).count()).toBe(0);
      await visit(`/jobs/${own.createJob.job.id}`);
      await buttons(/Cancel job/).waitFor();
      expect(await job.count()).toBe(0);
      await visit(`/desired/${own.createDesiredState.desiredState.id}`);
      await buttons(/Delete/).waitFor();
      expect(await page.getByText('Your key cannot change this desired state').count()).toBe(0);
      for (const path of [`/desired/${state.id}`, `/desired/${state.id}/edit`]) {
        await visit(path);
        await page.getByText('Your key cannot change this desired state', { exact: false }).waitFor();
        expect(await buttons(/Edit|Disable|Delete|Save/).count()).toBe(0);
      }
      await visit('/recurring');
      const card = page.getByRole('region', { name: 'Half', exact: true });
      await card.getByRole('button', { name: 'Run now' }).waitFor();
      const edit = `mutation ($id: ID!, $input: RecurringJobInput!) {
        updateRecurringJob(id: $id, input: $input) { userErrors { message } } }`;
      const input = { ...schedule, cron: '0 5 1 1 *' };
      await ask(hub, edit, { id: own.createRecurringJob.recurringJob.id, input });
      await visit('/recurring');
      await card.getByText('another person or key saved it last', { exact: false }).waitFor();
      expect(await card.getByRole('button', { name: /Run now|Edit|Delete/ }).count()).toBe(0);
      expect(await card.getByRole('switch').count()).toBe(0);
    });
  });

  it('says which scope a tab of a device needs', async () => {
    await asKey({ name: 'Reading', scopes: ['DEVICES_READ'] }, async ({ page, visit }) => {
      await visit(`/devices/${device}?tab=log`);
      await page.getByText('“Session log” of this device needs the scope ADMIN.', { exact: false }).waitFor();
      await visit(`/devices/${device}`);
      await page.getByRole('tab', { name: 'Tools' }).waitFor();
      expect(await page.getByText('needs the scope').count()).toBe(0);
    });
  });
});
