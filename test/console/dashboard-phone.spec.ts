/** The console on a phone, 390 px wide: nothing overflows, lists begin on the first screen. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  isChromiumInstalled,
  namelessImages,
  openBrowser,
  openConsole,
  seriousViolations,
  smallTargets,
} from '../src/console/console-browser.js';
import { furnish, pages, type Scenery } from '../src/console/console-scenery.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { type SimulatedFleet, startFleet } from '../src/devices/simulated-fleet.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';

const size = { width: 390, height: 844 };
/** Pages that are lists, with the element in which they begin. */
const lists = {
  devices: '[role=table] [role=row]:nth-child(1)',
  'devices-filtered': '[role=table] [role=row]:nth-child(1)',
  jobs: '[role=table] [role=row]:nth-child(1)',
  events: '[role=table] [role=row]:nth-child(1)',
  audit: '[role=table] [role=row]:nth-child(1)',
} as const;

describe.skipIf(!isChromiumInstalled())('the console on a phone', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;
  let scenery: Scenery;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([
      startHub({ env: { FLOTILLA_SMTP_URL: 'smtp://127.0.0.1:9', FLOTILLA_SMTP_FROM: 'hub@hub.example' } }),
      openBrowser(),
    ]);
    fleet = startFleet(hub, { devices: 40 });
    scenery = await furnish(hub, 40);
    console = await openConsole(browser, hub, { ...size, colorScheme: 'dark' });
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet], consoles: [console] }));

  it.each(pages.map(({ name, pathOf }) => [name, pathOf] as const))('fits the page %s', async (name, pathOf) => {
    await console.visit(pathOf(scenery));
    const list = lists[name as keyof typeof lists] as string | undefined;
    if (list !== undefined) {
      const first = page.locator(list).first();
      await first.waitFor();
      expect((await first.boundingBox())?.y, 'the list begins on the first screen').toBeLessThan(size.height * 0.65);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width);
    expect(await smallTargets(page)).toEqual([]);
    expect(await namelessImages(page)).toEqual([]);
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('selects devices, and has the acts at the lower edge', async () => {
    await console.visit('/devices');
    await page.getByRole('checkbox', { name: 'Select all loaded devices' }).check();
    const bar = page.getByRole('region', { name: 'Selected devices' });
    await bar.getByText('40 selected').waitFor();
    for (const name of [/^Tag/, /^Group/, /^Transport/, /^Remove/, /^New job/]) {
      const box = await bar.getByRole('button', { name }).boundingBox();
      expect(box?.y).toBeGreaterThan(size.height - 120);
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
    }
    expect(await seriousViolations(page)).toEqual([]);
    await bar.getByRole('button', { name: /^Remove/ }).click();
    // The red button in the dark scheme, too.
    const dialog = page.getByRole('dialog', { name: 'Remove 40 devices?' });
    await dialog.getByRole('button', { name: 'Remove 40 devices' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep devices' }).click();
  });

  it('has the text of a condition in the middle of it', async () => {
    await console.visit('/devices?tags=%5B%22lobby%22%5D');
    const text = page.getByText('Tag: lobby', { exact: true });
    const [inner, outer] = [await text.boundingBox(), await text.locator('..').boundingBox()];
    if (!inner || !outer) throw new Error('It is not drawn.');
    expect(inner.height).toBeLessThan(30);
    const above = inner.y - outer.y;
    expect(Math.abs(outer.height - inner.height - 2 * above)).toBeLessThanOrEqual(2);
  });

  it('has the inbox of alerts in the bar', async () => {
    await console.visit('/');
    const bell = page.getByRole('button', { name: /alerts? (is|are) firing/ });
    const box = await bell.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
    await bell.click();
    await page.getByRole('dialog').getByText('All alerts').click();
    await page.waitForURL(/\/alerts/);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width);
  });

  it('closes the navigation after a link, also to the page that is shown', async () => {
    await console.visit('/devices');
    const drawer = page.getByRole('dialog', { name: 'Main' });
    for (const name of ['Lobby', 'Devices', 'Devices']) {
      await page.getByRole('button', { name: 'Open navigation' }).click();
      await drawer.getByRole('link', { name, exact: true }).click();
      await drawer.waitFor({ state: 'detached' });
    }
  });

  it('names the step of a new job', async () => {
    await console.visit('/jobs/new?tool=self.get_device_status');
    await page.getByText('Step 1 of 5: Action').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Step 2 of 5: Devices').waitFor();
    expect(await smallTargets(page)).toEqual([]);
  });

  it('has the code of a waiting device and its buttons in view', async () => {
    const board = startFleet(hub, { devices: 1, seed: 9, ota: `${hub.httpUrl}/ota/` });
    try {
      await console.visit('/enrolments');
      const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Approve' }) });
      const acts = await row.getByRole('button', { name: 'Approve' }).boundingBox();
      const reject = await row.getByRole('button', { name: 'Reject' }).boundingBox();
      const code = await row.getByText(/^\d{6}$/).boundingBox();
      expect((reject?.x ?? 0) + (reject?.width ?? size.width)).toBeLessThan(size.width);
      expect((code?.x ?? 0) + (code?.width ?? size.width)).toBeLessThan(acts?.x ?? 0);
      expect(await seriousViolations(page)).toEqual([]);
    } finally {
      await board.stop();
    }
  });

  it.each([
    ['/audit', 'Details'],
    ['/settings', 'Edit'],
    ['/webhooks', 'Deliver again'],
  ])('has the button of each row of %s in view', async (address, name) => {
    await console.visit(address);
    const place = await page.getByRole('row').getByRole('button', { name }).first().boundingBox();
    expect((place?.x ?? 0) + (place?.width ?? size.width)).toBeLessThan(size.width);
  });

  it('returns to the place in a list, with the pages that this needs', async () => {
    await page.route('**/graphql', (route) =>
      route.continue({ postData: (route.request().postData() ?? '').replaceAll(/"first":\d+/g, '"first":15') }),
    );
    await console.visit('/devices');
    const list = page.getByRole('region', { name: 'Devices' });
    await list.getByRole('row').nth(2).waitFor();
    // A filter gives the entry of the browser's history another key.
    const isFiltered = (text: string | null) => text?.includes('"search":":"') && text.includes('query Devices(');
    const answer = page.waitForResponse((response) => isFiltered(response.request().postData()) === true);
    await page.getByRole('searchbox', { name: 'Search id or name' }).fill(':');
    await (await answer).finished();
    const top = (wanted?: number) =>
      list.evaluate((element: { scrollTop: number }, to) => {
        if (to !== undefined) element.scrollTop = to;
        return Math.round(element.scrollTop);
      }, wanted);
    await expect.poll(() => top(900)).toBe(900);
    const link = list.getByRole('link').nth(15);
    await link.scrollIntoViewIfNeeded();
    const left = await top();
    expect(left).toBeGreaterThan(600);
    await link.click();
    await page.getByRole('tab', { name: 'Tools' }).waitFor();
    await page.goBack();
    await expect.poll(() => top()).toBe(left);
    await page.unroute('**/graphql');
  });

  it('adds devices in a dialog that fits', async () => {
    await console.visit('/enrolments');
    await page.getByRole('button', { name: 'Add devices' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add devices' });
    for (const tab of ['Code', 'Link', 'CSV file']) {
      await dialog.getByRole('tab', { name: tab }).click();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width);
      expect(await smallTargets(page)).toEqual([]);
      expect(await seriousViolations(page)).toEqual([]);
    }
  });
});
