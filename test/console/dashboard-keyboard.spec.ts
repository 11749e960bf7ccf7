/**
 * The console by keyboard in a real Chromium: the palette, pages, lists and the API explorer; and
 * requests that are copied and run elsewhere.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flotillaBin } from '../src/api/command-line.js';
import { ask } from '../src/api/graphql-client.js';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { registerBoards, startBoards, type SimulatedBoards } from '../src/devices/simulated-boards.js';
import { type SimulatedFleet, startFleet } from '../src/devices/simulated-fleet.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

const run = promisify(execFile);
/** Runs in the page: what a screen reader says of the selected choice. */
const selectedText =
  "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.innerText ?? ''";

describe.skipIf(!isChromiumInstalled())('the console by keyboard', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let boards: SimulatedBoards;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;
  let device: string;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
    fleet = startFleet(hub, { devices: 7, profile: 'screen-camera', seed: 61 });
    boards = await startBoards({ boards: 1 });
    const [board] = await boards.views();
    await registerBoards(hub, [{ deviceId: 'greenhouse-1', address: board?.address ?? '' }]);
    await online(hub, 8);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      '{ devices(filter: { dialect: XIAOZHI }) { nodes { id } } }',
    );
    device = devices.nodes[0]?.id ?? '';
    await ask(hub, 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { device { id } } }', {
      input: { deviceId: device, name: 'Front desk', tags: ['lobby'] },
    });
    await ask(
      hub,
      'mutation ($input: DeviceGroupInput!) { createDeviceGroup(input: $input) { userErrors { message } } }',
      { input: { name: 'Front of house', filter: { model: 'none' } } },
    );
    console = await openConsole(browser, hub);
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet, boards], consoles: [console] }));

  const path = () => new URL(page.url()).pathname;
  const option = (name: string) => page.getByRole('option', { name });

  it('finds devices and groups by the API in the palette, and opens them with Enter', async () => {
    await page.locator('h1').waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search or jump to' });
    await option('Overview').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await field.fill('front');
    await option('Front of house').waitFor();
    await option('Front desk').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => page.evaluate(selectedText)).toContain('Front desk');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Front desk' }).waitFor();
  });

  it('reads the next page of what it finds', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill('02:00');
    await option('Load more').waitFor();
    const before = await page.getByRole('option').count();
    const counted = page.getByRole('dialog').getByRole('status');
    const found = async () => (await page.getByRole('option').count()) - (await option('Load more').count());
    await expect.poll(async () => (await counted.innerText()).startsWith(`${await found()} results`)).toBe(true);
    await option('Load more').click();
    await expect.poll(() => page.getByRole('option').count()).toBeGreaterThan(before);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('goes to pages, moves through lists and opens rows', async () => {
    await page.locator('h1').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
    await page.getByRole('link', { name: 'Front desk' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const second = await page.evaluate<string>("document.activeElement?.getAttribute('href') ?? ''");
    expect(second).toMatch(/^\/devices\//);
    await page.keyboard.press('k');
    expect(await page.evaluate<string>("document.activeElement?.getAttribute('href') ?? ''")).not.toBe(second);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await expect.poll(path).toBe(second);
  });

  it('leaves keys to fields, and lists its shortcuts with a switch that turns them off', async () => {
    await console.visit('/devices');
    await page.keyboard.press('/');
    await page.keyboard.type('gj?');
    const search = page.getByRole('searchbox');
    expect(await search.inputValue()).toBe('gj?');
    await search.fill('');
    await page.locator('h1').focus();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Next row of a list').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('switch', { name: 'Shortcuts of one key' }).press('Space');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('h1').focus();
    await page.keyboard.press('?');
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    expect([await dialog.count(), path()]).toEqual([0, '/devices']);
    await page.evaluate("localStorage.removeItem('flotilla.shortcuts')");
  });

  it('copies a call and a filter that run in a shell, as curl and as a command line', async () => {
    await console.visit(`/devices/${device}`);
    await page.getByRole('button', { name: 'self.audio_speaker.set_volume' }).click();
    const form = page.getByRole('form', { name: 'self.audio_speaker.set_volume' });
    await form.getByRole('textbox', { name: 'volume' }).fill('43');
    await form.getByRole('button', { name: 'Copy as' }).click();
    const called = JSON.parse(await runCopied('curl')) as { data: { callTool: { call: { outcome: string } } } };
    expect(called.data.callTool.call.outcome).toBe('SUCCEEDED');
    expect(await seriousViolations(page)).toEqual([]);
    expect(await runCopied('Command line')).toBe('true\n');
    expect((await fleet.counts()).devices[device]?.['self.audio_speaker.set_volume']).toBe(2);
    await page.keyboard.press('Escape');
    await console.visit('/devices?search=Front%20desk');
    await page.getByRole('button', { name: 'Copy as' }).click();
    const listed = JSON.parse(await runCopied('curl')) as { data: { devices: { nodes: { id: string }[] } } };
    expect(listed.data.devices.nodes.map(({ id }) => id)).toEqual([device]);
    expect(await runCopied('Command line')).toContain('Front desk');
    await page.keyboard.press('Escape');
  });

  /** Runs the text of the open dialog in a shell. The key is only in the environment. */
  async function runCopied(form: 'curl' | 'Command line'): Promise<string> {
    const dialog = page.getByRole('dialog');
    await dialog.getByText(form, { exact: true }).first().click();
    const text = await dialog.getByRole('textbox', { name: form }).inputValue();
    expect(text).not.toContain(hub.adminKey);
    const script = `flotilla() { "${process.execPath}" "${flotillaBin}" "$@"; }\n${text}`;
    const { stdout } = await run('sh', ['-c', script], { env: { ...process.env, FLOTILLA_KEY: hub.adminKey } });
    return stdout;
  }

  it('explores the API as the signed-in person, with its documentation, and without another host', async () => {
    await console.visit('/explore');
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.getByText('Root Types').waitFor();
    await page.getByRole('button', { name: /Execute query/ }).click();
    await page.locator('.result-window').getByText('"devices"').waitFor();
    await page
      .getByRole('button', { name: 'Query', exact: true })
      .or(page.getByText('Query', { exact: true }))
      .first()
      .click();
    await page.getByText('The key or person that sent this request', { exact: false }).first().waitFor();
  });

  it('keeps a dialog open after Escape once keys have removed a tag, or stepped a number', async () => {
    const dialog = page.getByRole('dialog');
    await console.visit(`/devices/${device}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog.getByText('lobby').waitFor();
    await dialog.getByLabel('Tags').press('Backspace');
    await dialog.getByText('lobby').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const read = await ask<{ device: { tags: string[] } }>(hub, 'query ($id: ID!) { device(id: $id) { tags } }', {
      id: device,
    });
    expect(read.device.tags).toEqual([]);
    await console.visit('/alerts?view=rules');
    await page.getByRole('button', { name: 'Add rule' }).click();
    const number = dialog.getByRole('textbox', { name: 'More devices than this at once are one alert' });
    await number.press('ArrowUp');
    await page.keyboard.press('Escape');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Stepped');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('region', { name: 'Stepped' }).waitFor();
    const { alertRules } = await ask<{ alertRules: { name: string; groupAbove: number }[] }>(
      hub,
      '{ alertRules { name groupAbove } }',
    );
    expect(alertRules.find(({ name }) => name === 'Stepped')?.groupAbove).toBe(6);
  });

  it('has the focus on the heading after the row of a button has been deleted', async () => {
    await console.visit('/alerts?view=rules');
    const rule = page.getByRole('region', { name: 'A tenth of the fleet is offline' });
    await rule.getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await rule.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate<string>("document.activeElement?.tagName ?? ''")).toBe('H1');
  });

  it('shows the pins of a board with switches', async () => {
    await console.visit('/devices/greenhouse-1?tab=pins');
    const lamp = page.getByRole('switch', { name: 'lamp' });
    await expect.poll(() => lamp.isEnabled()).toBe(true);
    expect(await lamp.isChecked()).toBe(false);
    await page.getByText('lamp', { exact: true }).waitFor();
    await lamp.press('Space');
    await expect.poll(async () => (await boards.views())[0]?.outputs['lamp']).toBe(true);
    await expect.poll(() => lamp.isChecked()).toBe(true);
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('shows the log of a session on demand', async () => {
    await console.visit(`/devices/${device}?tab=log`);
    await page.getByRole('button', { name: 'Open log' }).click();
    await page.getByText('The log began', { exact: false }).waitFor();
    await ask(hub, 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }', {
      input: { deviceId: device, tool: 'self.audio_speaker.set_volume', arguments: { volume: 52 } },
    });
    const log = page.getByRole('log', { name: 'Session log' });
    const sent = log.getByRole('button', { name: /Sent:.*"volume":52/ });
    await sent.click();
    await log.getByText('"volume": 52', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close log' }).click();
    await page.getByText('The log has ended.').waitFor();
  });
});
