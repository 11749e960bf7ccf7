/**
 * The console over the built hub in a real Chromium: sign-in and sign-out, the frame of every page,
 * enrolments, a lost connection.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
  signInByKey,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { type SimulatedFleet, startFleet } from '../src/devices/simulated-fleet.js';

describe.skipIf(!isChromiumInstalled())('the web console', () => {
  let hub: HubProcess;
  let newcomers: SimulatedFleet;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub({ env: { FLOTILLA_DEVICE_AUTH: '' } }), openBrowser()]);
    newcomers = startFleet(hub, { devices: 3, ota: `${hub.httpUrl}/ota/`, seed: 7 });
    console = await openConsole(browser, hub, { key: null });
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [newcomers], consoles: [console] }));

  it('refuses a wrong key and says so', async () => {
    await page.goto('/enrolments');
    await page.getByRole('textbox', { name: 'API key' }).fill('not a key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Unknown API key.', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('leads to the page that was asked for, and a reload keeps the key', async () => {
    await signInByKey(page, hub.adminKey);
    await page.getByRole('heading', { level: 1, name: 'Enrolments' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Enrolments' }).waitFor();
    expect(await page.title()).toBe('Enrolments · Flotilla');
  });

  it('moves the focus to the heading, and has a way past the navigation', async () => {
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.waitForFunction("document.activeElement?.tagName === 'H1'");
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('body').press('Shift+Tab');
    expect(await page.getByText('Skip to content').count()).toBe(1);
  });

  it('says in its own words that an address is wrong, with a way home', async () => {
    const answer = await page.goto('/nothing/here');
    expect(answer?.status()).toBe(404);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Back to Overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const wrong = ['lastSeenBefore=yesterday', 'firmwareBefore=new', 'groupId=none', 'any=5', 'not=null', 'tags={}'];
    for (const condition of wrong) {
      await console.visit(`/devices?${condition}`);
      await expect
        .poll(async () => [...(await page.getByRole('alert').allInnerTexts()), await page.locator('main').innerText()])
        .toEqual(expect.arrayContaining([expect.stringMatching(/address of this page|No matching devices/)]));
      expect(await page.locator('main').innerText()).not.toMatch(/\$filter|Variable|GraphQL|firmwareBefore/);
    }
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('approves a device by its code, live', async () => {
    await console.visit('/enrolments');
    const device = newcomers.notices.find(({ event }) => event === 'code')?.device ?? '';
    const code = await newcomers.codeOf(device);
    const row = page.getByRole('row').filter({ hasText: device });
    await row.waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add devices' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add devices' });
    await dialog.getByRole('textbox', { name: 'Code' }).fill('000000');
    await dialog.getByText('No waiting device shows this code.', { exact: false }).waitFor();
    await dialog.getByRole('textbox', { name: 'Code' }).fill(code);
    // The board with this code, to compare with the real one.
    const board = dialog.getByRole('region', { name: 'Device to compare' });
    await board.getByText(device, { exact: true }).waitFor();
    await board.getByText(code, { exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByLabel('Device name').fill('Lobby');
    await dialog.getByRole('button', { name: 'Approve device' }).click();
    await page.getByText('Lobby is approved.', { exact: false }).waitFor();
    await row.waitFor({ state: 'detached' });
    // The dialog is ready for the next one.
    expect(await dialog.getByRole('textbox', { name: 'Code' }).inputValue()).toBe('');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  it('approves a device from its row after its code and board were shown', async () => {
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Approve' }) });
    const device = (await row.first().getByRole('cell').first().innerText()).trim();
    await row.first().getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve this device?' });
    await dialog.getByText(await newcomers.codeOf(device), { exact: true }).waitFor();
    await dialog.getByText(device, { exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByLabel('Device name').fill('Kitchen');
    await dialog.getByRole('button', { name: 'Approve device' }).click();
    await page.getByText('Kitchen is approved.', { exact: false }).waitFor();
    await page.getByRole('row').filter({ hasText: device }).waitFor({ state: 'detached' });
  });

  it('blocks a device for a day, and lists it again when it is unblocked', async () => {
    await page.getByRole('button', { name: 'Reject' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Reject this device?' });
    await dialog.getByLabel('Block it for a day').check();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Block device' }).click();
    await page.getByText('No devices are waiting').waitFor();
    const blocked = page.getByRole('region', { name: 'Blocked devices' }).first();
    await blocked.getByRole('button', { name: 'Unblock' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await blocked.getByRole('button', { name: 'Unblock' }).click();
    await page.getByRole('button', { name: 'Reject' }).first().waitFor();
  });

  it('turns a device away only when asked twice', async () => {
    await page.getByRole('button', { name: 'Reject' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('No devices are waiting').waitFor();
  });

  it('speaks Chinese, and keeps that', async () => {
    await page
      .getByRole('button', { name: /Account and appearance/ })
      .first()
      .click();
    await page.getByText('中文').click();
    await page.getByRole('heading', { level: 1, name: '设备登记' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: '设备登记' }).waitFor();
    // The browser is English. What it says of a missing value is Chinese, too.
    await page.getByRole('button', { name: '添加设备' }).click();
    await page.locator('form').getByRole('button', { name: '批准设备' }).click();
    expect(await page.evaluate('document.querySelector("form :invalid").validationMessage')).toBe('请填写此项。');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page
      .getByRole('button', { name: /账户与外观/ })
      .first()
      .click();
    await page.getByText('English').click();
    await page.getByRole('heading', { level: 1, name: 'Enrolments' }).waitFor();
  });

  it('is gone after signing out', async () => {
    await page.keyboard.press('Escape');
    await page
      .getByRole('button', { name: /Account and appearance/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('sessionStorage.getItem("flotilla.key")')).toBeNull();
  });
});
