/** The console by keyboard alone. */
import type { Page } from 'playwright-core';

/** The words of what has the focus. */
export function focusedText(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const element = document.activeElement;
    return element?.labels?.[0]?.textContent ?? element?.getAttribute('aria-label') ?? element?.textContent ?? '';
  })()`);
}

export async function tabTo(page: Page, name: string): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    await page.keyboard.press('Tab');
    if ((await focusedText(page)).trim() === name) return;
  }
  throw new Error(`Tab does not lead to “${name}”.`);
}
