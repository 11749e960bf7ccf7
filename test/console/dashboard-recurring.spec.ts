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
import { ask } from '../src/api/graphql-client.js';
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

  const saved = async (variables: { readonly id?: string; readonly name: string; readonly cron: string }) => {
    const { id, name, cron } = variables;
    const input = {
      name,
      cron,
      timeZone: 'UTC',
      job: { tool: VOLUME, arguments: { volume: 3 }, devices: { all: true } },
    };
    const [head, field] =
      id === undefined
        ? ['$input: RecurringJobInput!', `createRecurringJob(input: $input, idempotencyKey: "${name}")`]
        : ['$id: ID!, $input: RecurringJobInput!', 'updateRecurringJob(id: $id, input: $input)'];
    const { payload } = await ask<{ payload: { recurringJob: { id: string } } }>(
      hub,
      `mutation (${head}) { payload: ${field} { recurringJob { id } userErrors { message } } }`,
      { id, input },
    );
    return payload.recurringJob.id;
  };

  it('are all listed, and the week says which runs it cannot list', async () => {
    for (let number = 10; number < 62; number++) await saved({ name: `Schedule ${number}`, cron: '0 4 1 1 *' });
    await saved({ name: 'Every half hour', cron: '*/30 * * * *' });
    await console.visit('/recurring');
    await page.getByRole('region', { name: 'Schedule 61' }).waitFor();
    const week = page.getByRole('region', { name: 'The next seven days' });
    await week.getByText('Too many runs to list all: Every half hour.').last().waitFor();
    expect(await week.getByText('No run', { exact: true }).count()).toBe(0);
  });

  it('shows what another person saved, which a switch and a form do not undo', async () => {
    const id = await saved({ name: 'Shared', cron: '0 5 * * *' });
    await console.visit('/recurring');
    const card = page.getByRole('region', { name: 'Shared' });
    await card.getByText('Every day at 05:00').waitFor();
    await card.getByRole('button', { name: 'Edit schedule' }).click();
    await saved({ id, name: 'Shared', cron: '0 6 * * *' });
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Run once when the hub is back').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Every day at 06:00').waitFor();
    await card.getByText('Run once when the hub is back').waitFor();
    await saved({ id, name: 'Shared', cron: '0 7 * * *' });
    await card.getByRole('switch', { name: 'Enabled' }).click();
    await card.getByText('Every day at 07:00').waitFor();
    await card.getByText('Disabled').waitFor();
    await saved({ id, name: 'Shared', cron: '0 8 * * *' });
    await card.getByText('Every day at 08:00').waitFor();
  });
});
