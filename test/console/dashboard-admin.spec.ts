/**
 * Administration in the console: people and keys, webhooks, the audit trail, tool policies, health,
 * and personal sign-in.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  hiddenWidth,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';

/** An address without a listener. */
const deafOrigin = 'http://127.0.0.1:1';

describe.skipIf(!isChromiumInstalled())('administration in the web console', () => {
  let hub: HubProcess;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    const env = { FLOTILLA_WEBHOOK_URLS: deafOrigin, FLOTILLA_VOICE_URL: 'ws://127.0.0.1:1/voice' };
    [hub, browser] = await Promise.all([startHub({ embedded: true, env }), openBrowser()]);
    console = await openConsole(browser, hub, { key: null, width: 1280 });
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, consoles: [console] }));

  const signIn = async (email: string, password: string) => {
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  it('lets a person in by e-mail and password, and a reload keeps them in', async () => {
    await page.goto('/access');
    await signIn('admin@flotilla.local', 'not the password');
    await page.getByText('Wrong e-mail or password.', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await signIn('admin@flotilla.local', readFileSync(path.join(hub.dataDir, 'admin.password'), 'utf8').trim());
    await page.getByRole('heading', { level: 1, name: 'Access' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Access' }).waitFor();
    expect(await page.evaluate('document.cookie + sessionStorage.getItem("flotilla.key")')).toBe('null');
  });

  it('adds a person', async () => {
    await page.getByRole('button', { name: 'Add person' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Mei');
    await dialog.getByRole('textbox', { name: 'E-mail' }).fill('mei@example.com');
    await dialog.getByRole('textbox', { name: 'Password' }).fill('long enough a password');
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'mei@example.com' }).waitFor();
  });

  it('invites a person with a password that is shown once, and deletes them', async () => {
    await page.getByRole('button', { name: 'Add person' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Ola');
    await dialog.getByRole('textbox', { name: 'E-mail' }).fill('ola@example.com');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('It is shown only once.', { exact: false }).waitFor();
    const made = await dialog.getByRole('textbox', { name: 'Password' }).inputValue();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
    const signedIn = await fetch(`${hub.httpUrl}/api/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ola@example.com', password: made }),
    });
    expect(signedIn.status).toBe(200);
    const row = page.getByRole('row').filter({ hasText: 'ola@example.com' });
    const act = async (name: string) => {
      await row.getByRole('button', { name: 'Actions for Ola' }).click();
      await page.getByRole('menuitem', { name }).click();
      await dialog.getByRole('button', { name }).click();
    };
    await act('Sign out everywhere');
    await page.getByText('Ola is signed out everywhere.').waitFor();
    await act('Disable');
    await row.getByText('Disabled').waitFor();
    await act('Delete');
    await row.waitFor({ state: 'detached' });
  });

  it('never offers to delete the last administrator', async () => {
    await page.getByRole('button', { name: 'Actions for Admin' }).click();
    await page
      .getByText('The last administrator who can sign in cannot be disabled or deleted', { exact: false })
      .waitFor();
    expect(await page.getByRole('menuitem', { name: 'Delete' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
  });

  it('makes a key for the devices that match a filter, and shows how many these are', async () => {
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New key' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('integrator');
    await dialog.getByText('Devices that match a filter').click();
    expect(await dialog.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true);
    await dialog.getByRole('searchbox').fill('Lobby');
    await dialog.getByText('Covers 0 devices now.', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('textbox', { name: 'API key' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('row').filter({ hasText: 'integrator' }).getByText('(0 devices now)').waitFor();
  });

  it('makes a key, whose secret is shown once and works until it is revoked', async () => {
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('sign in the lobby');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const secret = await dialog.getByRole('textbox', { name: 'API key' }).inputValue();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    const status = async () =>
      (
        await fetch(`${hub.httpUrl}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
          body: '{"query":"{ viewer { name } }"}',
        })
      ).status;
    expect(await status()).toBe(200);
    const row = page.getByRole('row').filter({ hasText: 'sign in the lobby' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await status()).toBe(401);
  });

  it('shows the acts of people and keys on a screen of 1280 px, without scrolling sideways', async () => {
    await console.visit('/access');
    for (const label of ['People', 'API keys']) expect(await hiddenWidth(page, label)).toBe(0);
  });

  it('makes an enrolment link, whose address is shown once, and asks before it revokes it', async () => {
    await console.visit('/enrolments');
    await page.getByRole('button', { name: 'New link' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Link name' }).fill('Second floor');
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create link' }).click();
    expect(await dialog.getByRole('textbox', { name: 'OTA address' }).inputValue()).toMatch(/^http.*\/ota\/./);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    const link = page.getByRole('row').filter({ hasText: 'Second floor' });
    await link.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('This cannot be undone', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Revoke link' }).click();
    await link.waitFor({ state: 'detached' });
    await console.visit('/access');
  });

  it('refuses a webhook with the hub’s own words, and keeps one that is allowed', async () => {
    await console.visit('/webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/hook');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Nothing was changed.').waitFor();
    await dialog.getByRole('textbox', { name: 'Address' }).fill('https://hooks.example.com/flotilla');
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect(await dialog.getByRole('textbox', { name: 'Signing secret' }).inputValue()).not.toBe('');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('heading', { name: 'https://hooks.example.com/flotilla' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('does not save a webhook over what another person saved while the form was open', async () => {
    const url = 'https://hooks.example.com/flotilla';
    const { webhooks } = await ask<{ webhooks: readonly { id: string }[] }>(hub, '{ webhooks { id } }');
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Address' }).fill('https://hooks.example.com/other');
    await ask(
      hub,
      `mutation ($id: ID!, $input: WebhookInput!) { updateWebhook(id: $id, input: $input) { userErrors { message } } }`,
      { id: webhooks[0]?.id, input: { url, types: ['alert.*'] } },
    );
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('The webhook was changed meanwhile.').waitFor();
    await dialog.getByRole('button', { name: 'Close without saving' }).click();
    await page.getByRole('heading', { name: url }).waitFor();
    await page.getByText('alert.*').first().waitFor();
  });

  it('says on the Overview that a webhook fails', async () => {
    await ask(hub, 'mutation ($input: WebhookInput!) { createWebhook(input: $input) { userErrors { message } } }', {
      input: { url: `${deafOrigin}/hook`, types: ['enrolment_link.*'] },
    });
    await createEnrolmentLink(hub, { maxDevices: 1 });
    const failing = async () =>
      (await ask<{ webhooks: readonly { failingSince: string | null }[] }>(hub, '{ webhooks { failingSince } }'))
        .webhooks;
    await eventually(failing, (webhooks) => webhooks.some(({ failingSince }) => failingSince !== null));
    await console.visit('/');
    const attention = page.getByRole('link', { name: `Deliveries to ${deafOrigin}/hook are failing` });
    await attention.click();
    await page.getByRole('heading', { name: `${deafOrigin}/hook` }).waitFor();
    expect(await hiddenWidth(page, `Deliveries to ${deafOrigin}/hook`)).toBe(0);
  });

  it('delivers again once, also after a double click', async () => {
    let sent = 0;
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('redeliverWebhook') === true) sent += 1;
      await route.fallback();
    });
    await page.getByRole('button', { name: 'Deliver again' }).first().dblclick();
    await page.getByText('The delivery is sent again.').waitFor();
    expect(sent).toBe(1);
    await page.unroute('**/graphql');
  });

  it('shows on Audit who did that', async () => {
    await console.visit('/audit?action=webhook.created');
    const row = page.getByRole('row').filter({ hasText: 'webhook.created' });
    await row.first().waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await row.last().getByRole('button', { name: 'Details' }).click();
    await page.getByRole('dialog').getByText('hooks.example.com', { exact: false }).first().waitFor();
  });

  it('changes a tool policy, and shows how the hub is', async () => {
    await console.visit('/settings');
    await page.getByRole('table', { name: 'Processes' }).getByText('Alive').waitFor();
    await page.getByRole('table', { name: 'Voice servers' }).getByText('Not used yet').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add policy' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Pattern' }).fill('self.lamp.*');
    await dialog.getByRole('switch', { name: /may be called again/ }).click();
    const timeout = dialog.getByRole('textbox', { name: /timeout|seconds/i });
    await timeout.fill('');
    expect(await timeout.inputValue()).toBe('');
    await timeout.pressSequentially('2.5', { delay: 30 });
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { toolPolicies } = await ask<{ toolPolicies: readonly { pattern: string; callTimeoutMs: number }[] }>(
      hub,
      '{ toolPolicies { pattern idempotent callTimeoutMs } }',
    );
    expect(toolPolicies).toContainEqual({ pattern: 'self.lamp.*', idempotent: true, callTimeoutMs: 2_500 });
  });

  it('does not replace the policy of a pattern that exists, and offers to edit it', async () => {
    await page.getByRole('button', { name: 'Add policy' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Pattern' }).fill('self.lamp.*');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('There is a policy for this pattern already.').waitFor();
    await dialog.getByRole('button', { name: 'Edit the policy of self.lamp.*' }).click();
    await dialog.getByRole('heading', { name: 'Edit policy' }).waitFor();
    expect(await dialog.getByRole('switch', { name: /may be called again/ }).isChecked()).toBe(true);
    await dialog.getByRole('button', { name: 'Close without saving' }).click();
  });

  it('does not save a tool policy over what another person saved while the form was open', async () => {
    const line = page.getByRole('row').filter({ hasText: 'self.lamp.*' });
    await line.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('switch', { name: /interrupts/ }).click();
    await ask(hub, 'mutation ($input: ToolPolicyInput!) { setToolPolicy(input: $input) { userErrors { message } } }', {
      input: { pattern: 'self.lamp.*', idempotent: true, disruptive: false, callTimeoutMs: 7_000 },
    });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('The policy was changed meanwhile.').waitFor();
    await dialog.getByRole('button', { name: 'Close without saving' }).click();
    await line.getByText('7 sec').waitFor();
  });

  it('leads a person out', async () => {
    await page
      .getByRole('button', { name: /Account and appearance/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  });
});
