/** The page of all devices: its conditions, groups and buttons. */
import type { Page } from 'playwright-core';

/** Opens the form of a condition, with its kind chosen. */
export async function addCondition(page: Page, kind: string): Promise<void> {
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('combobox', { name: 'Condition', exact: true }).click();
  await page.getByRole('option', { name: kind }).click();
}

export async function editGroup(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Groups' }).click();
  await page.getByRole('button', { name: `Edit group ${name}` }).click();
}

/** Whether a button looks the same while it is disabled, and once it is not any more. */
export function buttonColours(page: Page): Promise<unknown> {
  const colours = `(() => {
    const button = document.querySelector('main button.mantine-Button-root');
    const colour = () => getComputedStyle(button).color;
    const usable = colour();
    button.disabled = true;
    const disabled = colour();
    button.disabled = false;
    return [disabled === usable, colour() === usable];
  })()`;
  return page.evaluate(colours);
}
