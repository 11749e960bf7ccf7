/** An answer of the hub that comes when the test says so. */
import type { Page } from 'playwright-core';

/** Of the operations whose text matches. The returned function lets them go on. */
export async function holdAnswer(page: Page, operation: RegExp): Promise<() => void> {
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/graphql', async (route) => {
    if (operation.test(route.request().postData() ?? '')) await isReleased;
    await route.fallback();
  });
  return release;
}
