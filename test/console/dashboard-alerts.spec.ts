/** Alert rules in the console: numbers are stored as typed, and a switch changes nothing else. */
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
import { holdAnswer } from '../src/console/held-answer.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly severity: string;
  readonly devices: unknown;
  readonly enabled: boolean;
  readonly threshold: number | null;
  readonly forSeconds: number;
  readonly repeatEverySeconds: number | null;
}

describe.skipIf(!isChromiumInstalled())('alert rules in the console', () => {
  let hub: HubProcess;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([
      startHub({ env: { FLOTILLA_SMTP_URL: 'smtp://127.0.0.1:9', FLOTILLA_SMTP_FROM: 'hub@hub.example' } }),
      openBrowser(),
    ]);
    console = await openConsole(browser, hub);
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, consoles: [console] }));

  const ruleNamed = async (name: string) => {
    const { alertRules } = await ask<{ alertRules: readonly Rule[] }>(
      hub,
      '{ alertRules { id name severity devices enabled threshold forSeconds repeatEverySeconds } }',
    );
    return alertRules.find((rule) => rule.name === name);
  };
  /** As another person over the API. */
  const changeColdStore = async (changes: Readonly<Record<string, unknown>>) => {
    const rule = await ruleNamed('Cold store');
    const path = 'self.get_device_status:temperature';
    await ask(
      hub,
      `mutation ($id: ID!, $input: AlertRuleInput!) {
        updateAlertRule(id: $id, input: $input) { userErrors { message } } }`,
      { id: rule?.id, input: { name: 'Cold store', kind: 'MEASUREMENT', path, channelIds: [], ...changes } },
    );
  };
  const card = (name: string) => page.getByRole('region', { name });

  it('store a threshold below zero with its decimals, key by key', async () => {
    await console.visit('/alerts?view=rules');
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Cold store');
    await dialog.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Measurement', exact: true }).click();
    await dialog.getByRole('combobox', { name: 'Path' }).fill('self.get_device_status:temperature');
    const threshold = dialog.getByRole('textbox', { name: /^Threshold/ });
    await threshold.pressSequentially('-0.05', { delay: 30 });
    expect(await threshold.inputValue()).toBe('-0.05');
    const duration = dialog.getByRole('textbox', { name: 'Duration in seconds' });
    await duration.fill('');
    expect(await duration.inputValue()).toBe('');
    await duration.pressSequentially('45', { delay: 30 });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card('Cold store').waitFor();
    expect(await ruleNamed('Cold store')).toMatchObject({ threshold: -0.05, forSeconds: 45, repeatEverySeconds: null });
  });

  it('are enabled and disabled without undoing what another person saved meanwhile', async () => {
    await changeColdStore({ severity: 'CRITICAL', threshold: -4 });
    await card('Cold store').getByText('Warning').waitFor();
    await card('Cold store').getByRole('switch', { name: 'Enabled' }).click();
    await card('Cold store').getByText('Critical').waitFor();
    expect(await ruleNamed('Cold store')).toMatchObject({ enabled: false, severity: 'CRITICAL', threshold: -4 });
  });

  it('are not saved over what another person saved while the form was open', async () => {
    await card('Cold store').getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Duration in seconds' }).fill('90');
    await changeColdStore({ severity: 'INFO', threshold: -6 });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('The alert rule was changed meanwhile.').waitFor();
    expect(await ruleNamed('Cold store')).toMatchObject({ severity: 'INFO', threshold: -6, forSeconds: 300 });
    await dialog.getByRole('button', { name: 'Close without saving' }).click();
    await card('Cold store').getByText('Info').waitFor();
    await card('Cold store').getByRole('button', { name: 'Edit' }).click();
    await dialog.getByRole('textbox', { name: 'Duration in seconds' }).fill('90');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await ruleNamed('Cold store')).toMatchObject({ severity: 'INFO', threshold: -6, forSeconds: 90 });
  });

  it('have channels that are not saved over what another person saved while the form was open', async () => {
    const input = { name: 'Shift', kind: 'EMAIL', config: { to: ['day@hub.example'] } };
    const { createNotificationChannel: made } = await ask<{
      createNotificationChannel: { notificationChannel: { id: string } };
    }>(
      hub,
      `mutation ($input: NotificationChannelInput!) {
        createNotificationChannel(input: $input) { notificationChannel { id } } }`,
      { input },
    );
    await console.visit('/alerts?view=channels');
    await card('Shift').getByRole('button', { name: 'Edit channel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Night shift');
    await ask(
      hub,
      `mutation ($id: ID!, $input: NotificationChannelInput!) {
        updateNotificationChannel(id: $id, input: $input) { userErrors { message } } }`,
      { id: made.notificationChannel.id, input: { ...input, config: { to: ['night@hub.example'] } } },
    );
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('The notification channel was changed meanwhile.').waitFor();
    await dialog.getByRole('button', { name: 'Close without saving' }).click();
    await card('Shift').getByText('night@hub.example').waitFor();
  });

  it('have channels that forget what a test found when they are changed', async () => {
    await card('Shift').getByRole('button', { name: 'Send test message' }).click();
    const found = card('Shift').getByText(/^Not delivered\./);
    await found.waitFor();
    await card('Shift').getByRole('button', { name: 'Edit channel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('switch', { name: 'Enabled' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card('Shift').getByText('disabled').waitFor();
    await found.waitFor({ state: 'detached' });
  });

  it('are named before the only channel that they use is deleted', async () => {
    await console.visit('/alerts?view=channels');
    await card('Shift').getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    // The shipped rules use the first channel.
    await dialog.getByText(/no other channel.*Hub unhealthy/).waitFor();
    expect(await dialog.getByText('Cold store').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Keep channel' }).click();
  });

  it('keep what was typed when a click misses the dialog, or Escape is pressed', async () => {
    await console.visit('/alerts?view=rules');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await dialog.waitFor();
    await page.mouse.click(5, 5);
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add rule' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Warm store');
    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card('Warm store').waitFor();
    expect(await ruleNamed('Warm store')).toMatchObject({ enabled: true });
  });

  it('keep what was chosen when a click misses the dialog', async () => {
    await console.visit('/alerts?view=rules');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByRole('combobox', { name: 'Severity' }).click();
    await page.getByRole('option', { name: 'Critical' }).click();
    await page.mouse.click(5, 5);
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Hot store');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card('Hot store').waitFor();
    expect(await ruleNamed('Hot store')).toMatchObject({ severity: 'CRITICAL' });
  });

  it('are saved by a click during which the preview appears', async () => {
    const answer = await holdAnswer(page, /query PreviewAlertRule/);
    await console.visit('/alerts?view=rules');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Slow store');
    await dialog.getByRole('button', { name: 'Save' }).hover();
    await page.mouse.down();
    answer();
    await dialog.getByText('In the last 7 days it would have fired').waitFor();
    await page.mouse.up();
    await card('Slow store').waitFor();
    await page.unrouteAll();
  });

  it('have their devices chosen by conditions, and in words', async () => {
    await console.visit('/alerts?view=rules');
    const dialog = page.getByRole('dialog');
    await card('Hot store').getByRole('button', { name: 'Edit rule' }).click();
    await dialog.getByText('the rule is about all devices').waitFor();
    await dialog.getByRole('searchbox').fill('fridge');
    await dialog.getByText('the rule is about all devices').waitFor({ state: 'detached' });
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card('Hot store').getByText('Id or name contains: fridge').waitFor();
    expect((await ruleNamed('Hot store'))?.devices).toEqual({ search: 'fridge' });
    await dialog.waitFor({ state: 'detached' });
    await card('Hot store').getByRole('button', { name: 'Edit rule' }).click();
    await dialog.getByRole('searchbox').fill('freezer');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card('Hot store').getByText('Id or name contains: freezer').waitFor();
  });

  it('take a share as a percentage', async () => {
    await console.visit('/alerts?view=rules');
    const rule = card('A tenth of the fleet is offline');
    await rule.getByRole('button', { name: 'Edit rule' }).click();
    const threshold = page.getByRole('dialog').getByRole('textbox', { name: 'Threshold in percent' });
    expect(await threshold.inputValue()).toBe('10');
    await threshold.fill('');
    await threshold.pressSequentially('12.5', { delay: 30 });
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await rule.getByText('at 12.5%').waitFor();
    expect(await ruleNamed('A tenth of the fleet is offline')).toMatchObject({ threshold: 0.125 });
  });

  it('can be acknowledged only while they fire', async () => {
    let resolvedAt: string | null = null;
    await page.route('**/graphql', async (route) => {
      const { operationName } = route.request().postDataJSON() as { operationName: string };
      if (operationName !== 'OneAlert') return route.continue();
      const firedAt = '2026-07-01T10:00:00Z';
      const rule = { id: 'rule', name: 'Hot store' };
      const none = { acknowledgedBy: null, acknowledgedAt: null, note: null, device: null, devices: [] };
      const alert = { id: 'one', severity: 'WARNING', state: 'FIRING', summary: 'Hot', deviceCount: 0, ...none };
      await route.fulfill({ json: { data: { alert: { ...alert, rule, firedAt, resolvedAt } } } });
    });
    await console.visit('/alerts/one');
    await card('Hot store').getByRole('button', { name: 'Acknowledge' }).waitFor();
    resolvedAt = '2026-07-01T11:00:00Z';
    await console.visit('/alerts/one');
    await card('Hot store').getByText('resolved', { exact: false }).first().waitFor();
    expect(await card('Hot store').getByRole('button', { name: 'Acknowledge' }).count()).toBe(0);
    await page.unroute('**/graphql');
  });

  it('are shown to a limited key without what the hub hides from it', async () => {
    const input = { name: 'Shop', scopes: ['EVENTS_READ'], devices: { tags: ['shop'] } };
    const { createApiKey } = await ask<{ createApiKey: { secret: string } }>(
      hub,
      'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
      { input },
    );
    const limited = await openConsole(browser, hub, { key: createApiKey.secret });
    await limited.visit('/alerts?view=rules');
    await limited.page.getByRole('region', { name: 'A tenth of the fleet is offline' }).getByText('at 12.5%').waitFor();
    expect(await limited.page.getByText(/There is no channel|Channels: none|Devices: all/).count()).toBe(0);
    await limited.visit('/alerts?view=channels');
    await limited.page.getByText('No channels are visible').waitFor();
    expect(limited.complaints).toEqual([]);
    await limited.close();
  });
});
