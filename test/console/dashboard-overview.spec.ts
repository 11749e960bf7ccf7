/** What the Overview says: of all jobs, and about alerts in the language of the console. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePage, isChromiumInstalled, openBrowser, openConsole } from '../src/console/console-browser.js';
import { ask } from '../src/api/graphql-client.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { finished, jobOf, online, steerJob } from '../src/jobs/job-api.js';

const DEVICES = 3;
const VOLUME = 'self.audio_speaker.set_volume';

describe.skipIf(!isChromiumInstalled())('the jobs of the Overview', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
    fleet = startFleet(hub, { devices: DEVICES });
    await online(hub, DEVICES);
    console = await openConsole(browser, hub);
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet], consoles: [console] }));

  it('need attention however many other jobs are newer', async () => {
    const call = { tool: VOLUME, devices: { all: true } };
    const paused = await jobOf(hub, { ...call, name: 'Old and paused', arguments: { volume: 1 }, perMinute: 1 }, 'old');
    await steerJob(hub, 'pauseJob', paused);
    const failed = await jobOf(hub, { tool: 'self.nothing', devices: { all: true }, name: 'Old and failed' }, 'bad');
    await finished(hub, failed);
    for (let number = 0; number < 21; number++) {
      const id = await jobOf(hub, { ...call, name: `Good ${number}`, arguments: { volume: number } }, `good ${number}`);
      await finished(hub, id);
    }
    const startAt = new Date(Date.now() + 3_600_000).toISOString();
    for (let number = 0; number < 9; number++)
      await jobOf(hub, { ...call, name: `Later ${number}`, arguments: { volume: 2 }, startAt }, `later ${number}`);
    await console.visit('/');
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('“Old and paused” is paused by an operator').waitFor();
    await attention.getByText('“Old and failed” failed').waitFor();
    const figure = page.getByRole('link', { name: /^Active jobs/ });
    await figure.getByText('10', { exact: true }).waitFor();
    await figure.getByText('1 paused').waitFor();
    expect(await figure.getAttribute('href')).toBe('/jobs?show=live');
    await page.getByRole('region', { name: 'Active jobs' }).getByText('The latest 8 of them.').waitFor();
  });
});

describe.skipIf(!isChromiumInstalled())('the alerts of the Overview', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let console: ConsolePage;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
    fleet = startFleet(hub, { devices: 1, profile: 'screen-camera' });
    await online(hub, 1);
    console = await openConsole(browser, hub);
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet], consoles: [console] }));

  it('are in the language of the console, also in the inbox', async () => {
    const path = 'self.get_device_status:battery.level';
    const input = { name: 'Battery', kind: 'MEASUREMENT', path, threshold: -1, forSeconds: 0, channelIds: [] };
    await ask(hub, 'mutation ($input: AlertRuleInput!) { createAlertRule(input: $input) { userErrors { code } } }', {
      input,
    });
    await finished(hub, await jobOf(hub, { tool: 'self.get_device_status', devices: { all: true } }, 'status'));
    const query = '{ alerts(filter: { state: FIRING }) { nodes { summary(language: ZH) } } }';
    const alerts = () => ask<{ alerts: { nodes: readonly { summary: string }[] } }>(hub, query);
    const [alert] = (await eventually(alerts, (answer) => answer.alerts.nodes.length > 0, 60_000)).alerts.nodes;
    const { page } = console;
    await page.evaluate("localStorage.setItem('flotilla.language', 'zh')");
    await console.visit('/');
    await page
      .getByRole('region', { name: '需要关注' })
      .getByText(alert?.summary ?? '')
      .waitFor();
    await page.getByRole('button', { name: '1 条告警触发中' }).click();
    await page
      .getByRole('dialog')
      .getByText(alert?.summary ?? '')
      .waitFor();
  });
});
