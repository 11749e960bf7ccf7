/** A mutation whose answer does not reach the console. */
import type { Page, Route } from 'playwright-core';

/** Does `act`, loses the hub's answer to the mutation, and loads the page again. */
export async function loseAnswer(page: Page, mutation: string, act: () => Promise<void>): Promise<void> {
  const lose = async (route: Route) => {
    if (!route.request().postData()?.includes(`mutation ${mutation}`)) return route.fallback();
    await route.fetch();
    await route.abort();
  };
  await page.route('**/graphql', lose);
  await act();
  await page.getByText('may or may not have happened', { exact: false }).waitFor();
  await page.unroute('**/graphql', lose);
  await page.reload();
}
