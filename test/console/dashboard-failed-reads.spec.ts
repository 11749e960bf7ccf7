/** What the console shows while reads fail: the last good data, and no calm words without any. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';

describe.skipIf(!isChromiumInstalled())('the console whose reads fail', () => {
  let hub: HubProcess;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;
  /** Names of the queries that are answered with 503. */
  const failing = new Set<string>();

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
    const device = '{ deviceId: "02:00:00:00:00:01", dialect: XIAOZHI }';
    await ask(hub, `mutation { registerDevice(input: ${device}) { userErrors { message } } }`);
    console = await openConsole(browser, hub);
    page = console.page;
    await page.route('**/graphql', async (route) => {
      // The first request of a page is made without the client, and has no name beside its query.
      const { operationName, query } = route.request().postDataJSON() as { operationName?: string; query: string };
      const name = operationName ?? /query (\w+)/.exec(query)?.[1] ?? '';
      await (failing.has(name) ? route.fulfill({ status: 503, body: 'busy' }) : route.continue());
    });
  });

  afterAll(() => endConsoleStory({ hub, browser, consoles: [console] }));

  const region = (name: string | RegExp) => page.getByRole('region', { name });
  const answerAll = () => failing.clear();

  it('does not call a fleet calm that it could not read', async () => {
    for (const name of ['FailingWebhooks', 'JobsNow', 'FleetLately', 'LatestEvents']) failing.add(name);
    await console.visit('/');
    await region('Needs attention').getByRole('alert').waitFor();
    await region('Latest events').getByText('Could not load this').waitFor();
    await region('Active jobs').getByText('Could not load this').waitFor();
    await region(/Calls by outcome/)
      .getByText('Could not load this')
      .waitFor();
    const text = await page.locator('main').innerText();
    const calmWords = ['Nothing needs your attention', 'No calls in', 'none paused', 'No active jobs', 'No events yet'];
    for (const calm of calmWords) expect(text).not.toContain(calm);
    answerAll();
    // By itself, on a screen that stands open.
    await region('Latest events').getByRole('alert').waitFor({ state: 'detached' });
  });

  it('keeps the last answer while a poll fails, and says that it is not up to date', async () => {
    await console.visit('/');
    const online = page.getByRole('link', { name: /^Online/ });
    await online.getByText('of 1 device').waitFor();
    failing.add('FleetNow').add('JobsNow');
    await online.getByText('Not up to date').waitFor();
    expect(await online.innerText()).toMatch(/Online\s*0/);
    await region('Active jobs').getByText('Not up to date').waitFor();
    await region('Active jobs').getByText('No active jobs.').waitFor();
    answerAll();
    await online.getByText('of 1 device').waitFor();
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
  });

  it('shows no count of restarts that it could not read, and tries again', async () => {
    failing.add('MeasuredPaths');
    await console.visit('/devices/02:00:00:00:00:01?tab=measurements');
    const measurements = region('Measurements');
    await measurements.getByText('Could not load this').waitFor();
    expect(await measurements.innerText()).not.toMatch(/unexpected restart|Nothing has been recorded/);
    const [again] = await Promise.all([
      page.waitForResponse((answer) => answer.url().endsWith('/graphql') && answer.status() === 503),
      measurements.getByRole('button', { name: 'Try again' }).click(),
    ]);
    expect(again.request().postData()).toContain('MeasuredPaths');
    answerAll();
    await measurements.getByText('0 unexpected restarts').waitFor();
    await measurements.getByText('Nothing has been recorded').waitFor();
  });

  it('does not say that no alert fires, or that there is no signing key, where it could not ask', async () => {
    failing.add('AlertInbox').add('SigningKeys');
    await console.visit('/firmware');
    await region('Signing keys').getByText('Could not load this').waitFor();
    expect(await region('Signing keys').innerText()).not.toMatch(/No signing keys|accepts/i);
    await page.getByRole('button', { name: 'Alerts', exact: true }).click();
    await page.getByRole('dialog').getByText('Could not load this').waitFor();
    expect(await page.getByRole('dialog').innerText()).not.toContain('No alert is firing');
    answerAll();
    await page.getByRole('dialog').getByText('No alert is firing').waitFor();
  });

  it('shows no rows of the former filter where it could not read those of the new one', async () => {
    await console.visit('/devices');
    const row = page.getByRole('link', { name: '02:00:00:00:00:01' });
    await row.first().waitFor();
    failing.add('Devices');
    await page.getByRole('searchbox', { name: 'Search' }).fill('02:00');
    await page.getByRole('alert').getByText('Could not load this').waitFor();
    expect(await row.count()).toBe(0);
    answerAll();
  });

  it('says that it could not read versions, groups and the choices of filters', async () => {
    failing.add('FleetVersions').add('Groups').add('DeviceChoices');
    await console.visit('/firmware');
    await region('Versions in the fleet').getByText('Could not load this').waitFor();
    await page.getByRole('navigation').getByText('Could not load this').first().waitFor();
    await console.visit('/devices');
    await page.locator('main').getByText('Could not load this').waitFor();
    answerAll();
    for (const part of [page.locator('main'), page.getByRole('navigation').first()])
      await part.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('opens by itself when the hub is back', async () => {
    failing.add('Viewer');
    await page.reload();
    await page.getByRole('heading', { name: 'The hub cannot be reached' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    answerAll();
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
  });

  it('names what it waits for', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/graphql', async (route) => {
      await held;
      await route.fallback();
    });
    await page.reload({ waitUntil: 'commit' });
    await page.getByRole('status', { name: 'Opening …' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    release();
    await page.getByRole('heading', { level: 1 }).waitFor();
  });
});
