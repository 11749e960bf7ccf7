/** An open page of the console after an update of the hub, whose former scripts are gone. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey, revokeKey } from '../src/api/api-keys.js';
import { isChromiumInstalled, openBrowser, openConsole, seriousViolations } from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { serveNewerConsole } from '../src/console/newer-console.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { PATIENCE } from '../src/patience.js';

describe.skipIf(!isChromiumInstalled())('a page of the console, open while the hub is updated', () => {
  let hub: HubProcess;
  let browser: Browser;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
  });

  afterAll(() => endConsoleStory({ hub, browser, consoles: [] }));

  it.each([1360, 390])(
    'stays with what was typed if a part of it is gone, and offers a reload (%i px)',
    async (width) => {
      const { page, complaints, visit, close } = await openConsole(browser, hub, { width, height: 500 });
      await visit('/jobs/new');
      const name = page.getByRole('textbox', { name: 'Name' });
      await name.fill('Quiet night');
      await name.evaluate((element) => element.scrollIntoView({ block: 'start' }));
      await serveNewerConsole(page);
      await page.keyboard.press('Control+k');
      const banner = page.getByText('The hub was updated and has a newer console.', { exact: false });
      await banner.waitFor();
      expect((await banner.boundingBox())?.y).toBeGreaterThanOrEqual(0);
      expect(await name.inputValue()).toBe('Quiet night');
      expect(await seriousViolations(page)).toEqual([]);
      await page.route('/', (route) => route.abort());
      await page.getByRole('button', { name: 'Reload' }).click();
      const away = page.getByText('The hub did not answer.', { exact: false });
      await away.waitFor();
      expect(await name.inputValue()).toBe('Quiet night');
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Reload' }).click();
      await away.waitFor({ state: 'detached' });
      await name.waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it.each(['en', 'zh'])(
    'says so and offers another try where the texts are gone at the start (%s)',
    async (language) => {
      const { page, complaints, close } = await openConsole(browser, hub, { locale: language, key: null });
      await page.route(`**/assets/${language}-*.js`, (route) => route.abort());
      await page.goto('/');
      await page.getByRole('heading', { name: 'The console could not be loaded' }).waitFor();
      await page.getByRole('heading', { name: '控制台未能加载' }).waitFor();
      await page.route('/', (route) => route.abort());
      await page.getByRole('button', { name: /Try again.*重试/ }).click();
      await page.getByRole('alert').filter({ hasText: '中枢仍然没有应答。' }).waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      await page.unrouteAll();
      await page.getByRole('button', { name: /Try again.*重试/ }).click();
      await page.getByRole('heading', { name: language === 'en' ? 'Sign in' : '登录' }).waitFor();
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it('offers a reload where the session has ended and the form for signing in is gone', async () => {
    const key = await makeKey(hub, ['DEVICES_READ']);
    const { page, complaints, visit, close } = await openConsole(browser, hub, { key: key.secret });
    // Those who are signed in have not loaded the form.
    await visit('/devices');
    await serveNewerConsole(page);
    await revokeKey(hub, key.id);
    const patience = { timeout: 30_000 * PATIENCE };
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor(patience);
    const reload = page.getByRole('main').getByRole('button', { name: 'Reload' });
    await reload.waitFor();
    await page.unrouteAll();
    await reload.click();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});
