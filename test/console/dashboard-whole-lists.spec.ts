/** Lists of choices are whole, although the API gives them by page: here a page has two rows. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { type ConsolePage, isChromiumInstalled, openBrowser, openConsole } from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { createDesiredState } from '../src/jobs/desired-state-api.js';
import { online } from '../src/jobs/job-api.js';

const NEWCOMERS = 5;

describe.skipIf(!isChromiumInstalled())('lists of choices in the console', () => {
  let hub: HubProcess;
  let fleets: readonly SimulatedFleet[];
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub({ env: { FLOTILLA_DEVICE_AUTH: '' } }), openBrowser()]);
    const newcomers = startFleet(hub, { devices: NEWCOMERS, ota: `${hub.httpUrl}/ota/`, seed: 7 });
    const admitted = { devices: 1, seed: 8, ota: await createEnrolmentLink(hub, { maxDevices: 1 }) };
    fleets = [newcomers, startFleet(hub, admitted)];
    await online(hub, 1);
    console = await openConsole(browser, hub);
    page = console.page;
    await page.route('**/graphql', (route) =>
      route.continue({ postData: (route.request().postData() ?? '').replaceAll('first: 100', 'first: 2') }),
    );
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets, consoles: [console] }));

  it('have all tools of a new job', async () => {
    await console.visit('/jobs/new');
    await page.getByRole('combobox', { name: 'Tool' }).click();
    await expect.poll(() => page.getByRole('option').count()).toBeGreaterThan(4);
  });

  it('have all boards that can be approved by their code', async () => {
    await console.visit('/enrolments');
    await page.getByRole('button', { name: 'Add devices' }).click();
    const boards = page.getByRole('list', { name: 'Devices that wait' }).getByRole('listitem');
    await expect.poll(() => boards.count()).toBe(NEWCOMERS);
  });

  it('have all groups of a filter', async () => {
    const create = `mutation ($input: DeviceGroupInput!) {
      createDeviceGroup(input: $input) { userErrors { message } } }`;
    for (let number = 1; number <= 5; number++)
      await ask(hub, create, { input: { name: `Group ${number}`, filter: { tags: [`tag${number}`] } } });
    await console.visit('/devices');
    await page.getByRole('button', { name: 'Groups' }).click();
    await expect.poll(() => page.getByRole('button', { name: /^Group \d$/ }).count()).toBe(5);
  });

  it('have their second page where it comes later than the next look at the first', async () => {
    for (const tag of ['lobby', 'bar', 'spa']) {
      const wanted = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 30 }, devices: { tags: [tag] } };
      await createDesiredState(hub, { name: `Quiet ${tag}`, ...wanted }, tag);
    }
    let asked = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/graphql', async (route) => {
      const { operationName, variables } = route.request().postDataJSON() as {
        operationName?: string;
        variables?: { after?: string | null };
      };
      if (operationName === 'DesiredStates' && variables?.after) {
        asked++;
        await held;
      }
      await route.fallback();
    });
    await page.clock.install();
    await console.visit('/desired');
    const links = page.getByRole('link', { name: /^Quiet / });
    await expect.poll(() => asked).toBe(1);
    await page.clock.runFor(20_000);
    release();
    await expect.poll(() => links.count()).toBe(3);
    expect(asked).toBe(1);
  });
});
