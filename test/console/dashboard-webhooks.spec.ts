/** The page Webhooks by keyboard alone, and with an address that is wider than the screen. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { type ConsolePage, isChromiumInstalled, openBrowser, openConsole } from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { holdAnswer } from '../src/console/held-answer.js';
import { focusedText } from '../src/console/keyboard.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';

/** A transition begins within two frames. The loader of a button is an animation without end. */
const afterTransitions = `(async () => {
  for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
  const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
  await Promise.allSettled(transitions.map(({ finished }) => finished));
})()`;

describe.skipIf(!isChromiumInstalled())('webhooks in the console', () => {
  let hub: HubProcess;
  let receiver: Server;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;
  let url: string;

  beforeAll(async () => {
    receiver = createServer((_, response) => response.writeHead(500).end()).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = receiver.address();
    const origin = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
    url = `${origin}/${'a'.repeat(200)}`;
    [hub, browser] = await Promise.all([startHub({ env: { FLOTILLA_WEBHOOK_URLS: origin } }), openBrowser()]);
    await ask(hub, 'mutation ($input: WebhookInput!) { createWebhook(input: $input) { userErrors { message } } }', {
      input: { url, types: ['enrolment_link.*'] },
    });
    console = await openConsole(browser, hub, { width: 1280 });
    page = console.page;
  });

  afterAll(async () => {
    await endConsoleStory({ hub, browser, consoles: [console] });
    receiver.close();
  });

  const width = () => page.evaluate<number>('document.documentElement.scrollWidth');

  it('breaks a long address', async () => {
    await console.visit('/webhooks');
    await page.getByRole('heading', { name: url }).waitFor();
    expect(await width()).toBe(1280);
  });

  it('shows a cell that is cut as a whole under the pointer', async () => {
    await createEnrolmentLink(hub, { maxDevices: 1 });
    await page.setViewportSize({ width: 1000, height: 800 });
    const cell = page.getByRole('cell', { name: 'The receiver answered 500.' }).first();
    await cell.hover();
    expect(await cell.getAttribute('title')).toBe('The receiver answered 500.');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('gives the focus back when a dialog closes', async () => {
    for (const name of ['Edit', 'Delete', 'Add webhook']) {
      await page.getByRole('button', { name, exact: true }).press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => focusedText(page)).toBe(name);
    }
  });

  it('leaves the focus on the button that sends a test event', async () => {
    await page.getByRole('button', { name: 'Send test event' }).press('Enter');
    await page.getByText('Not delivered. The receiver answered 500.').waitFor();
    await expect.poll(() => focusedText(page)).toBe('Send test event');
  });

  it('forgets what a test found when the webhook is changed', async () => {
    const found = page.getByText('Not delivered. The receiver answered 500.');
    await found.waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter');
    await page.getByRole('dialog').getByRole('switch', { name: 'Enabled' }).press('Space');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await found.waitFor({ state: 'detached' });
  });

  it('moves the focus from the form to the secret, and back to the button', async () => {
    await page.getByRole('button', { name: 'Add webhook' }).press('Enter');
    const address = page.getByRole('dialog').getByRole('textbox', { name: 'Address' });
    await address.fill('https://hooks.example.com/flotilla');
    await address.press('Enter');
    await page.getByRole('textbox', { name: 'Signing secret' }).waitFor();
    await expect.poll(() => focusedText(page)).toBe('Signing secret');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().press('Enter');
    await expect.poll(() => focusedText(page)).toBe('Add webhook');
  });

  it('keeps a dialog open until its act is answered', async () => {
    const dialog = page.getByRole('dialog');
    const expectHeld = async (keep: string) => {
      await expect.poll(() => dialog.getByRole('button', { name: keep }).isDisabled()).toBe(true);
      await expect.poll(() => dialog.getByRole('button', { name: 'Close', exact: true }).isDisabled()).toBe(true);
      await page.keyboard.press('Escape');
      await page.mouse.click(5, 5);
      // One that closes stays in the page, less and less opaque, until its transition ends.
      await page.evaluate(afterTransitions);
      expect(await page.evaluate('getComputedStyle(document.querySelector("[role=dialog]")).opacity')).toBe('1');
    };
    const created = await holdAnswer(page, /mutation CreateWebhook/);
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await dialog.getByRole('textbox', { name: 'Address' }).fill('https://hooks.example.com/held');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expectHeld('Close without saving');
    created();
    await dialog.getByRole('textbox', { name: 'Signing secret' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    const deleted = await holdAnswer(page, /mutation DeleteWebhook/);
    await page.getByRole('button', { name: 'Delete', exact: true }).first().click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expectHeld('Keep webhook');
    deleted();
    await dialog.waitFor({ state: 'detached' });
  });
});
