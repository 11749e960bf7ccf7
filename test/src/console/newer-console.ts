/** A hub that was updated while a page of its console was open. */
import type { Page } from 'playwright-core';

/** What an update of the hub looks like from here: another entry script, and the old files gone. */
export async function serveNewerConsole(page: Page): Promise<void> {
  await page.route(/assets\/(audit-page|palette|sign-in-form)-/, (route) => route.fulfill({ status: 404 }));
  await page.route(
    (url) => url.pathname === '/',
    async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/assets\/index-[\w-]+\.js/, 'assets/index-newer.js'),
      });
    },
  );
}
