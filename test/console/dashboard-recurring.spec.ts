/** A recurring job in the console: from the last step of a job to its week, edit and end. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

const DEVICES = 4;
const VOLUME = 'self.audio_speaker.set_volume';

describe.skipIf(!isChromiumInstalled())('a recurring job in the console', () => {
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

  const next = () => page.getByRole('button', { name: 'Next' }).click();

  it('is made from the last step of a job, and is shown with its week', async () => {
    await console.visit('/recurring');
    await page.getByText('No recurring jobs yet').waitFor();
    await console.visit(`/jobs/new?tool=${VOLUME}`);
    await page.getByRole('textbox', { name: 'volume', exact: true }).fill('12');
    await next();
    await page.getByLabel('All devices').check();
    await next();
    await next();
    await next();
    await page.getByRole('button', { name: 'Repeat by a schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name of the schedule' }).fill('Quiet nights');
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByRole('heading', { level: 1, name: 'Recurring jobs' }).waitFor();
    await page.getByRole('region', { name: 'Quiet nights' }).getByText('Every day at 22:00').waitFor();
    expect(await page.getByRole('link', { name: 'Quiet nights' }).count()).toBeGreaterThanOrEqual(6);
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('is changed, disabled, run at once and deleted', async () => {
    await console.visit('/recurring');
    const card = page.getByRole('region', { name: 'Quiet nights' });
    const dialog = page.getByRole('dialog');
    await card.getByRole('button', { name: 'Edit schedule' }).click();
    await dialog.getByLabel(/^Time( \*)?$/).fill('21:30');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Every day at 21:30').waitFor();
    await card.getByRole('switch', { name: 'Enabled' }).click();
    await card.getByText('Disabled').waitFor();
    await card.getByRole('button', { name: 'Run now' }).click();
    await dialog.getByRole('button', { name: 'Run now' }).click();
    await page.getByText('recurring:Quiet nights').first().waitFor();
    await console.visit('/recurring');
    await card.getByRole('button', { name: 'Delete schedule' }).click();
    await dialog.getByRole('button', { name: 'Delete schedule' }).click();
    await page.getByText('No recurring jobs yet').waitFor();
  });
});
