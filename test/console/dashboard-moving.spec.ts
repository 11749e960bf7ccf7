/** Boards of a former server in the console: which are where, and the move of a selection. */
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
import { someUuid } from '../src/devices/device-credentials.js';
import { FormerServerStandIn } from '../src/devices/former-server.js';
import { askOta } from '../src/devices/ota-client.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';

const boards = ['02:00:00:00:77:01', '02:00:00:00:77:02', '02:00:00:00:77:03'] as const;

describe.skipIf(!isChromiumInstalled())('boards of a former server in the web console', () => {
  const former = new FormerServerStandIn();
  let hub: HubProcess;
  let browser: Browser;
  let console: ConsolePage;

  beforeAll(async () => {
    await former.listen();
    const env = { FLOTILLA_DEVICE_AUTH: '', FLOTILLA_OTA_UPSTREAM: former.otaUrl };
    [hub, browser] = await Promise.all([startHub({ env }), openBrowser()]);
    former.bound = new Set([boards[0], boards[1]]);
    for (const mac of boards) await askOta(hub, { mac, uuid: someUuid });
    console = await openConsole(browser, hub);
  });

  afterAll(async () => {
    await endConsoleStory({ hub, browser, consoles: [console] });
    former.close();
  });

  const rowOf = (mac: string) => console.page.getByRole('row').filter({ hasText: mac });

  it('are listed with what the former server says, and a selection moves here and back', async () => {
    const { page } = console;
    await console.visit('/enrolments');
    const section = page.getByRole('region', { name: 'Boards of the former server' }).first();
    await section.getByText('Not moved (3)').waitFor();
    await rowOf(boards[2]).getByText('No', { exact: true }).waitFor();
    expect(await section.getByRole('button', { name: 'Move here' }).isEnabled()).toBe(false);
    for (const mac of boards.slice(0, 2)) await page.getByRole('checkbox', { name: `Select ${mac}` }).check();
    await section.getByText('2 selected').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await section.getByRole('button', { name: 'Move here' }).click();
    await rowOf(boards[0]).getByText('Moves at its next start').waitFor();
    await section.getByText('Moved (2)').waitFor();
    const { mqtt } = (await askOta(hub, { mac: boards[0], uuid: someUuid })).body;
    expect(mqtt?.['password']).toBeDefined();
    await page.getByRole('checkbox', { name: `Select ${boards[1]}` }).check();
    await section.getByRole('button', { name: 'Move back' }).click();
    await rowOf(boards[1]).getByText('Not moved').waitFor();
    await section.getByText('Moved (1)', { exact: true }).click();
    await rowOf(boards[1]).waitFor({ state: 'detached' });
    await rowOf(boards[0]).getByText('Moved', { exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });
});
