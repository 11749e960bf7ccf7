/** The pages of jobs in the console: the steps of a new one, its end, and its files. */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { PATIENCE } from '../patience.js';
import { type ConsolePage, hiddenWidth, seriousViolations } from './console-browser.js';
import { holdAnswer } from './held-answer.js';
import { focusedText, tabTo } from './keyboard.js';

export const nextStep = (page: Page) => page.getByRole('button', { name: 'Next' }).click();

/**
 * Goes through all steps of a new job, and stops where it could be started on this many devices.
 * Checks what is preset, and each step for accessibility.
 */
export async function fillNewJob(page: Page, devices: number): Promise<void> {
  await nextStep(page);
  await page.getByText('Select a tool.').waitFor();
  await page.getByLabel('Job name').fill('Quiet night');
  await page.getByRole('combobox', { name: 'Tool', exact: true }).click();
  await page.getByRole('option', { name: /set_volume/ }).click();
  // Nothing is preset for many devices: a value must be chosen.
  const volume = page.getByRole('textbox', { name: 'volume', exact: true });
  expect(await volume.inputValue()).toBe('');
  await nextStep(page);
  await page.getByText('Enter a value.').waitFor();
  await expect.poll(() => focusedText(page)).toBe('volume');
  await volume.fill('12');
  await page.getByText('Advanced').click();
  await page.getByLabel('Attempts per device').fill('1');
  expect(await seriousViolations(page)).toEqual([]);
  await nextStep(page);
  await page.getByLabel('All devices').check();
  expect(await seriousViolations(page)).toEqual([]);
  await nextStep(page);
  await page.getByLabel('Maximum devices per minute').fill('6000');
  await page.getByText('In waves').click();
  await page.getByText('Later', { exact: true }).click();
  await page.getByText('Advanced').click();
  await page.getByLabel('Only at certain hours').check();
  await page.getByLabel('From', { exact: true }).waitFor();
  expect(await seriousViolations(page)).toEqual([]);
  await page.getByText('Now', { exact: true }).click();
  await page.getByText('All at once').click();
  await page.getByLabel('Only at certain hours').uncheck();
  await nextStep(page);
  await page.getByLabel('Share of devices').fill('60');
  await page.getByText('Advanced').click();
  expect(await cutPlaceholder(page.getByLabel('Minimum sample'))).toBe(0);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('button', { name: 'Remove rule 2' }).click();
  expect(await seriousViolations(page)).toEqual([]);
  await nextStep(page);
  await page.getByRole('button', { name: `Start on ${devices} devices` }).waitFor();
  await page.getByText('Online now').waitFor();
  expect(await seriousViolations(page)).toEqual([]);
}

interface EmptyField {
  readonly placeholder: string;
  readonly scrollWidth: number;
  readonly clientWidth: number;
  value: string;
}

/** Pixels of its placeholder that an empty field hides. */
function cutPlaceholder(field: Locator): Promise<number> {
  return field.evaluate((input: EmptyField) => {
    input.value = input.placeholder;
    const hidden = input.scrollWidth - input.clientWidth;
    input.value = '';
    return hidden;
  });
}

/** Presses Next in the second step before the number of devices is there, and lets go after. */
export async function pressNextWhileCounted(page: Page, devices: number): Promise<void> {
  await page.getByText('Advanced').waitFor();
  const answer = await holdAnswer(page, /query DeviceCount/);
  await nextStep(page);
  await page.getByRole('checkbox', { name: 'All devices' }).check();
  await page.getByRole('button', { name: 'Next' }).hover();
  await page.mouse.down();
  answer();
  await page.getByText(new RegExp(`^${devices} devices`)).waitFor();
  await page.mouse.up();
  await page.unrouteAll();
}

/** Until the job of the page has succeeded. */
export async function succeeded(page: Page): Promise<void> {
  await page
    .getByRole('status')
    .getByText('Succeeded', { exact: true })
    .waitFor({ timeout: 60_000 * PATIENCE });
}

/** The lines of the file that a click saves. */
export async function savedLines(page: Page, click: Locator, lineEnd: string): Promise<readonly string[]> {
  const saving = page.waitForEvent('download');
  await click.click();
  return readFileSync(await (await saving).path(), 'utf8')
    .trim()
    .split(lineEnd);
}

/** From step to step of a new job by keyboard; each heading has the focus then. */
export async function stepsByKeyboard(page: Page, steps: readonly string[]): Promise<void> {
  for (const step of steps) {
    await tabTo(page, 'Next');
    await page.keyboard.press('Enter');
    await expect.poll(() => focusedText(page)).toBe(step);
  }
}

/** Of the table on each of these pages. */
export async function hiddenWidths(console: ConsolePage, labels: readonly string[]): Promise<readonly number[]> {
  const widths: number[] = [];
  for (const label of labels) {
    await console.visit(`/${label.toLowerCase()}`);
    await console.page.getByRole('table', { name: label, exact: true }).getByRole('row').nth(1).waitFor();
    widths.push(await hiddenWidth(console.page, label));
  }
  return widths;
}

/** From the first step, whose tool is chosen, to the button that starts the job on all devices. */
export async function stepsToStart(page: Page): Promise<Locator> {
  await page.getByText('Advanced').waitFor();
  await nextStep(page);
  await page.getByRole('checkbox', { name: 'All devices' }).check();
  for (let step = 0; step < 3; step += 1) await nextStep(page);
  return page.getByRole('button', { name: /^Start on/ });
}
