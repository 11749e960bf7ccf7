/** Devices that are selected in the table, and what is done with them; devices that are added. */
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
import { holdAnswer } from '../src/console/held-answer.js';
import { ask } from '../src/api/graphql-client.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { eventually } from '../src/eventually.js';

const rooms = 240;

describe.skipIf(!isChromiumInstalled())('the selection of devices', () => {
  let hub: HubProcess;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  const counted = async (filter: object): Promise<number> => {
    const query = 'query ($filter: DeviceFilter) { fleetSummary(filter: $filter) { deviceCount } }';
    return (await ask<{ fleetSummary: { deviceCount: number } }>(hub, query, { filter })).fleetSummary.deviceCount;
  };
  const register = (input: readonly object[]) =>
    ask(hub, 'mutation ($input: [RegisterDeviceInput!]!) { registerDevices(input: $input) { userErrors { code } } }', {
      input,
    });
  const box = (room: string) => page.getByRole('checkbox', { name: `Select Room ${room}`, exact: true });
  const bar = () => page.getByRole('region', { name: 'Selected devices' });
  const addDevices = () => page.getByRole('dialog', { name: 'Add devices' });
  const chooseFile = async (text: string) => {
    const choosing = page.waitForEvent('filechooser');
    await addDevices().getByRole('button', { name: 'CSV file' }).click();
    await (await choosing).setFiles({ name: 'boards.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  };

  /** The hub registers, and its answers do not arrive. */
  const loseAnswers = () =>
    page.route('**/graphql', async (route) => {
      const isRegistration = route.request().postData()?.includes('RegisterDevices') === true;
      if (isRegistration) await route.fetch();
      await (isRegistration ? route.abort() : route.fallback());
    });

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub({ env: { FLOTILLA_DEVICE_AUTH: '' } }), openBrowser()]);
    const input = Array.from({ length: rooms }, (_, index) => ({
      deviceId: `02:0a:00:00:${Math.floor(index / 100)}0:${String(index % 100).padStart(2, '0')}`,
      name: `Room ${String(index).padStart(3, '0')}`,
      dialect: 'XIAOZHI',
    }));
    await register(input);
    console = await openConsole(browser, hub);
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [], consoles: [console] }));

  it('takes a range with Shift, and says how many are selected', async () => {
    await console.visit('/devices');
    await box('002').click();
    await bar().getByText('1 selected').waitFor();
    await box('006').click({ modifiers: ['Shift'] });
    await bar().getByText('5 selected').waitFor();
    await box('004').click();
    await bar().getByText('4 selected').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await bar().getByRole('button', { name: 'Tag 4 devices' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Add tags').fill('renovated');
    await dialog.getByLabel('Add tags').press('Enter');
    await dialog.getByRole('button', { name: 'Tag 4 devices' }).click();
    await page.getByText('4 devices changed.').waitFor();
    expect(await counted({ tags: ['renovated'] })).toBe(4);
  });

  it('forgets tags that were typed and not saved', async () => {
    const dialog = page.getByRole('dialog');
    const act = dialog.getByRole('button', { name: 'Tag 4 devices' });
    await bar().getByRole('button', { name: 'Tag 4 devices' }).click();
    await dialog.getByLabel('Add tags').fill('wrong');
    await dialog.getByLabel('Add tags').press('Enter');
    await dialog.getByRole('button', { name: 'Keep tags' }).click();
    await dialog.waitFor({ state: 'detached' });
    await bar().getByRole('button', { name: 'Tag 4 devices' }).click();
    await act.waitFor();
    expect(await act.isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Keep tags' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('begins a job for exactly these devices', async () => {
    await bar().getByRole('button', { name: 'New job for 4 devices' }).click();
    await page.getByRole('heading', { level: 1, name: 'New job' }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'Action' }).waitFor();
    const draft = await page.evaluate<string>(
      '(() => { const key = Object.keys(sessionStorage).find((name) => name.startsWith("flotilla.job-draft.")); ' +
        'return sessionStorage.getItem(key); })()',
    );
    expect((JSON.parse(draft) as { draft: { ids: string[] } }).draft.ids).toHaveLength(4);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
  });

  it('selects all that match, also those that are not loaded, but a few', async () => {
    await page.getByRole('checkbox', { name: 'Select all loaded devices' }).check();
    await bar()
      .getByRole('button', { name: `Select all ${rooms} that match` })
      .click();
    await bar().getByText(`${rooms} selected`).waitFor();
    await box('000').click();
    await bar()
      .getByText(`${rooms - 1} selected`)
      .waitFor();
    await bar()
      .getByRole('button', { name: `Transport of ${rooms - 1} devices` })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('235 more', { exact: false }).waitFor();
    await dialog.getByLabel('WebSocket').check();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: `Change ${rooms - 1} devices` }).click();
    await page.getByText(`The transport is changed for ${rooms - 1} of ${rooms - 1}.`).waitFor();
  });

  it('keeps the selection as a group, which is a view in the side bar', async () => {
    await bar()
      .getByRole('button', { name: `Group ${rooms - 1} devices` })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Hotel');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const views = page.getByRole('list', { name: 'Device groups' });
    await views.getByRole('link', { name: 'Hotel' }).click();
    await page.getByText(`${rooms - 1} devices, 0 online`).waitFor();
    await page.getByRole('button', { name: 'Groups' }).click();
    await page.getByRole('button', { name: 'Remove Hotel from the side bar' }).click();
    await views.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
  });

  it('removes devices after a confirmation with their number and some names', async () => {
    await console.visit('/devices?tags=%5B%22renovated%22%5D');
    await page.getByRole('checkbox', { name: 'Select all loaded devices' }).check();
    await bar().getByRole('button', { name: 'Remove 4 devices' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove 4 devices?' });
    await dialog.getByText(/^Room 002, Room 003, Room 005,? and Room 006$/).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    const removed = await holdAnswer(page, /mutation RemoveDevices/);
    await dialog.getByRole('button', { name: 'Remove 4 devices' }).click();
    await expect.poll(() => dialog.getByRole('button', { name: 'Keep devices' }).isDisabled()).toBe(true);
    removed();
    await page.getByText('No matching devices').waitFor();
    expect(await counted({ all: true })).toBe(rooms - 4);
  });

  it('registers a file only after a check that names each wrong line', async () => {
    await page.getByRole('button', { name: 'Add devices' }).click();
    const dialog = addDevices();
    await dialog.getByRole('tab', { name: 'CSV file' }).click();
    await chooseFile('deviceId,name\n02:0b:00:00:00:01,Spa\nno mac,Bar\n,Nothing\n02:0a:00:00:00:00,Known\n');
    await dialog.getByText('3 lines are wrong.', { exact: false }).waitFor();
    const lines = dialog.getByRole('row');
    expect(await lines.allInnerTexts()).toEqual([
      expect.stringMatching(/Line/),
      expect.stringMatching(/^3\b.*MAC address/),
      expect.stringMatching(/^4\b.*deviceId is missing/),
      expect.stringMatching(/^5\b.*registered already/),
    ]);
    expect(await seriousViolations(page)).toEqual([]);
    expect(await dialog.getByRole('button', { name: /^Register \d/ }).isDisabled()).toBe(true);
    expect(await counted({ search: 'Spa' })).toBe(0);
    // So that the browser reports a change where the same file is chosen again.
    expect(await dialog.locator('input[type=file]').inputValue()).toBe('');
    await chooseFile('deviceId,name\n02:0b:00:00:00:01,Spa\n');
    await dialog.getByText('1 device is valid.', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Register 1 device' }).click();
    await dialog.getByText('1 device is registered.').waitFor();
    expect(await counted({ search: 'Spa' })).toBe(1);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  it('stays open until the credentials are there, and keeps them when another tab is opened', async () => {
    await page.getByRole('button', { name: 'Add devices' }).click();
    const dialog = addDevices();
    const tab = (name: string) => dialog.getByRole('tab', { name });
    await tab('CSV file').click();
    await chooseFile('deviceId,dialect,transport\ngreenhouse-6,MCPU,MQTT\n');
    let arrive = () => {};
    const arrival = new Promise<void>((resolve) => (arrive = resolve));
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('RegisterDevices') === true) await arrival;
      await route.fallback();
    });
    await dialog.getByRole('button', { name: 'Register 1 device' }).click();
    const close = dialog.getByRole('button', { name: 'Close', exact: true }).first();
    await expect.poll(() => close.isDisabled()).toBe(true);
    expect(await tab('Link').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    arrive();
    const registered = dialog.getByText('1 device is registered.');
    await registered.waitFor();
    await page.unroute('**/graphql');
    await tab('Link').click();
    await registered.waitFor({ state: 'hidden' });
    await tab('CSV file').click();
    await registered.waitFor();
    await close.click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('says what is registered after a refused batch, and with a corrected file', async () => {
    await page.getByRole('button', { name: 'Add devices' }).click();
    const dialog = addDevices();
    await dialog.getByRole('tab', { name: 'CSV file' }).click();
    const batch = Array.from(
      { length: 1_000 },
      (_, n) => `02:0d:00:00:0${Math.floor(n / 100)}:${String(n % 100).padStart(2, '0')}`,
    );
    const fileOf = (...ids: string[]) => ['deviceId', ...ids, ''].join('\n');
    await chooseFile(fileOf(...batch, '02:0e:00:00:00:01', '02:0e:00:00:00:02'));
    await dialog.getByText('1,002 devices are valid. Nothing was registered yet.').waitFor();
    await register([{ deviceId: '02:0e:00:00:00:01', dialect: 'XIAOZHI' }]);
    await dialog.getByRole('button', { name: 'Register 1,002 devices' }).click();
    const refusal = dialog.getByText('The rest was not registered.');
    await refusal.waitFor();
    await dialog.getByText('1,000 devices are registered.').waitFor();
    expect(await dialog.innerText()).not.toContain('Nothing was');
    await chooseFile(fileOf('02:0e:00:00:00:02'));
    await dialog.getByText('1 device of this file is valid.').waitFor();
    expect(await refusal.count()).toBe(0);
    expect(await dialog.innerText()).not.toContain('Nothing was');
    await dialog.getByRole('button', { name: 'Register 1 device' }).click();
    await dialog.getByText('1,001 devices are registered.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  it('keeps saying that a registration may have happened while another file is chosen', async () => {
    await page.getByRole('button', { name: 'Add devices' }).click();
    const dialog = addDevices();
    await dialog.getByRole('tab', { name: 'CSV file' }).click();
    const file = 'deviceId\n02:0f:00:00:00:01\n';
    await chooseFile(file);
    await dialog.getByText('1 device is valid. Nothing was registered yet.').waitFor();
    await loseAnswers();
    await dialog.getByRole('button', { name: 'Register 1 device' }).click();
    const warning = dialog.getByText('The change may or may not have happened.', { exact: false });
    await warning.waitFor();
    await page.unroute('**/graphql');
    await dialog.getByText('1 device of this file is valid.').waitFor();
    await chooseFile(file);
    await dialog.getByText('1 line of this file is wrong.', { exact: false }).waitFor();
    await warning.waitFor();
    expect(await dialog.innerText()).not.toMatch(/Nothing was|Register nothing/);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  it('finds out what a registration without an answer did, and which credentials were lost', async () => {
    await page.getByRole('button', { name: 'Add devices' }).click();
    const dialog = addDevices();
    await dialog.getByRole('tab', { name: 'CSV file' }).click();
    await chooseFile('deviceId,dialect,transport\n02:0f:00:00:00:02,,\ngreenhouse-7,MCPU,MQTT\n');
    await dialog.getByText('2 devices are valid. Nothing was registered yet.').waitFor();
    await loseAnswers();
    const button = dialog.getByRole('button', { name: 'Register 2 devices' });
    await button.click();
    await dialog.getByText('To continue, register again', { exact: false }).waitFor();
    await page.unroute('**/graphql');
    await button.click();
    await dialog.getByText('2 devices are registered.').waitFor();
    await dialog.getByText('The credential of 1 device was lost', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  it('shows a link with a QR code, how long it lasts, and who has used it', async () => {
    await page.getByRole('button', { name: 'Add devices' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add devices' });
    await dialog.getByRole('tab', { name: 'Link' }).click();
    await dialog.getByRole('textbox', { name: 'Link name' }).fill('Pallet 7');
    await dialog.getByRole('button', { name: 'Create link' }).click();
    await dialog.getByRole('img', { name: 'QR code of the OTA address' }).waitFor();
    await expect.poll(() => dialog.getByRole('timer').innerText()).toMatch(/^(6 days 23 hours|7 days 0 hours)$/);
    await dialog.getByText('0 of 50').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    const url = await dialog.getByRole('textbox', { name: 'OTA address' }).inputValue();
    const board = { 'device-id': '02:0c:00:00:00:01', 'client-id': '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21' };
    await eventually(
      async () => (await fetch(`${hub.httpUrl}${new URL(url).pathname}`, { headers: board })).status,
      (status) => status === 200,
    );
    await dialog.getByText('1 of 50').waitFor();
  });
});
