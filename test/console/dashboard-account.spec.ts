/**
 * A person's account in the console: sign in by identity provider, change the password, sign out
 * here, in another tab, and everywhere.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
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
import { focusedText } from '../src/console/keyboard.js';
import { serveNewerConsole } from '../src/console/newer-console.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { createUserMutation, updateUserMutation } from '../src/api/people.js';
import { freePort, type IdentityProvider, startIdentityProvider } from '../src/api/identity-provider.js';

const email = 'admin@flotilla.local';
const newPassword = 'seven boats in the fog';

describe.skipIf(!isChromiumInstalled())('an account in the console', () => {
  let provider: IdentityProvider;
  let hub: HubProcess;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    const port = await freePort();
    [hub, browser] = await Promise.all([
      startHub({
        embedded: true,
        env: {
          FLOTILLA_OIDC_ISSUER: `http://127.0.0.1:${port}`,
          FLOTILLA_OIDC_CLIENT_ID: 'flotilla',
          FLOTILLA_OIDC_CLIENT_SECRET: 'a secret between the two of them',
          FLOTILLA_OIDC_LABEL: 'Example ID',
          FLOTILLA_OIDC_ROLE_CLAIM: 'groups',
          FLOTILLA_OIDC_ROLES: 'fleet=operator',
        },
      }),
      openBrowser(),
    ]);
    provider = await startIdentityProvider(port, () => `${hub.httpUrl}/api/sign-in/oidc/callback`);
    console = await openConsole(browser, hub, { key: null });
    page = console.page;
  });

  afterAll(() =>
    endConsoleStory({ hub, browser, fleets: [provider && { stop: () => provider.close() }], consoles: [console] }),
  );

  const signIn = async (where: Page, password: string, as = email) => {
    await where.getByRole('textbox', { name: 'E-mail' }).fill(as);
    await where.getByRole('textbox', { name: 'Password' }).fill(password);
    await where.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const choose = async (where: Page, item: string) => {
    await where
      .getByRole('button', { name: /Account and appearance/ })
      .first()
      .click();
    await where.getByRole('dialog').getByRole('button', { name: item, exact: true }).click();
  };
  const heading = (where: Page, name: string) => where.getByRole('heading', { level: 1, name }).waitFor();

  it('signs in a person known to the identity provider, and returns to the requested page', async () => {
    provider.people.set('ada', { name: 'Ada', email: 'ada@example.net', email_verified: true, groups: ['fleet'] });
    const { page: visitor, complaints, close } = await openConsole(browser, hub, { key: null });
    await visitor.goto('/events');
    expect(await seriousViolations(visitor)).toEqual([]);
    await visitor.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await throughProvider(visitor, 'ada');
    await heading(visitor, 'Events');
    await visitor.getByRole('button', { name: /^Ada/ }).waitFor();
    // The provider's own page asks for what it likes.
    expect(complaints.filter((text) => !text.startsWith('left the hub'))).toEqual([]);
    await close();
  });

  it('explains when the provider knows a person but the hub has no such user', async () => {
    provider.people.set('stranger', { name: 'S', email: 's@example.net', email_verified: true, groups: ['elsewhere'] });
    const { page: visitor, close } = await openConsole(browser, hub, { key: null });
    await visitor.goto('/');
    await visitor.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await throughProvider(visitor, 'stranger');
    await visitor.getByText('this hub has no account for you', { exact: false }).waitFor();
    await close();
  });

  it('offers e-mail and password as soon as the hub says so, and leaves the focus on the key', async () => {
    const { page: visitor, close } = await openConsole(browser, hub, { key: null });
    await visitor.route('**/api/sign-in', (route) => route.abort(), { times: 1 });
    await visitor.goto('/');
    await visitor.getByRole('textbox', { name: 'API key' }).fill('flt_');
    await visitor.getByRole('textbox', { name: 'E-mail' }).waitFor();
    expect(await focusedText(visitor)).toBe('API key');
    await close();
  });

  it('offers an open page what a new role allows', async () => {
    const input = { name: 'Vera', email: 'vera@example.net', role: 'VIEWER', password: newPassword };
    const { createUser } = await ask<{ createUser: { user: { id: string } } }>(hub, createUserMutation, { input });
    const { page: visitor, close } = await openConsole(browser, hub, { key: null });
    await visitor.goto('/jobs');
    await signIn(visitor, newPassword, input.email);
    await heading(visitor, 'Jobs');
    expect(await visitor.getByRole('link', { name: 'New job' }).count()).toBe(0);
    await choose(visitor, 'Change password');
    const typed = visitor.getByRole('dialog').getByRole('textbox', { name: 'Current password' });
    await typed.fill('half typed');
    await ask(hub, updateUserMutation, { id: createUser.user.id, input: { role: 'OPERATOR' } });
    await visitor.locator('a', { hasText: 'New job' }).first().waitFor();
    expect(await typed.inputValue()).toBe('half typed');
    await close();
  });

  it('changes the password of who is signed in, which ends the other sessions', async () => {
    const password = readFileSync(path.join(hub.dataDir, 'admin.password'), 'utf8').trim();
    const elsewhere = await openConsole(browser, hub, { key: null });
    await elsewhere.page.goto('/devices');
    await signIn(elsewhere.page, password);
    await heading(elsewhere.page, 'Devices');
    await page.goto('/settings');
    await signIn(page, password);
    await heading(page, 'Settings');
    await choose(page, 'Change password');
    const dialog = page.getByRole('dialog');
    const fill = async (current: string, next: string, repeated: string) => {
      await dialog.getByRole('textbox', { name: 'Current password' }).fill(current);
      await dialog.getByRole('textbox', { name: 'New password', exact: true }).fill(next);
      await dialog.getByRole('textbox', { name: 'Repeat new password' }).fill(repeated);
    };
    await fill('not the password', newPassword, `${newPassword}!`);
    await dialog.getByText('The two passwords differ.').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('textbox', { name: 'Repeat new password' }).fill(newPassword);
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await dialog.getByRole('alert').getByText('Nothing was changed.', { exact: false }).waitFor();
    await fill(password, newPassword, newPassword);
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed.', { exact: false }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(() => page.evaluate('document.activeElement?.textContent?.includes("Account and appearance")'))
      .toBe(true);
    await elsewhere.page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await elsewhere.close();
  });

  const endSession = async () => {
    const { users } = await ask<{ users: { id: string; email: string }[] }>(hub, '{ users { id email } }');
    const id = users.find((user) => user.email === email)?.id;
    await ask(hub, 'mutation ($id: ID!) { signOutUser(id: $id) { endedSessions } }', { id });
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  };

  it('finds its forms again after its session has ended and it has signed in again', async () => {
    await page.getByRole('button', { name: 'Add policy' }).click();
    const pattern = page.getByRole('textbox', { name: 'Pattern', includeHidden: true });
    await pattern.fill('self.lamp.*');
    await endSession();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await pattern.isVisible()).toBe(false);
    // Where no field has the focus, keys reach the whole page.
    for (const key of ['Escape', 'Escape', 'Escape', 'Control+k', 'g', 'd']) {
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press(key);
    }
    await signIn(page, newPassword);
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    expect(await page.title()).toContain('Settings');
    expect(await pattern.inputValue()).toBe('self.lamp.*');
    await endSession();
    const tab = await page.context().newPage();
    await tab.goto('/devices');
    await signIn(tab, newPassword);
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    await tab.close();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('table').getByText('self.lamp.*').first().waitFor();
  });

  it('keeps what was typed where the form for signing in is gone after an update', async () => {
    await page.reload();
    await page.getByRole('button', { name: 'Add policy' }).click();
    const pattern = page.getByRole('textbox', { name: 'Pattern', includeHidden: true });
    await pattern.fill('self.screen.*');
    await serveNewerConsole(page);
    await endSession();
    const other = page.getByRole('link', { name: 'Sign in in another tab' });
    await other.waitFor();
    await page.unrouteAll();
    const opened = page.waitForEvent('popup');
    await other.click();
    const tab = await opened;
    await signIn(tab, newPassword);
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    await tab.close();
    expect(await pattern.inputValue()).toBe('self.screen.*');
    await page.reload();
  });

  it('is out in every tab when one signs out, and leaves nothing there', async () => {
    await page.getByRole('button', { name: 'Add policy' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Pattern' }).fill('self.door.*');
    const tab = await page.context().newPage();
    await tab.goto('/devices');
    await heading(tab, 'Devices');
    await choose(tab, 'Sign out');
    await heading(tab, 'Sign in');
    await heading(page, 'Sign in');
    await tab.close();
    expect(await page.getByRole('textbox', { name: 'Pattern', includeHidden: true }).count()).toBe(0);
  });

  it('is out everywhere when one asks for it, and not before', async () => {
    await signIn(page, newPassword);
    await heading(page, 'Settings');
    const elsewhere = await openConsole(browser, hub, { key: null });
    await elsewhere.page.goto('/devices');
    await signIn(elsewhere.page, newPassword);
    await heading(elsewhere.page, 'Devices');
    await choose(page, 'Sign out everywhere');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('in all browsers', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Stay signed in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await choose(page, 'Sign out everywhere');
    await dialog.getByRole('button', { name: 'Sign out everywhere' }).click();
    await heading(page, 'Sign in');
    await heading(elsewhere.page, 'Your session has ended');
    await elsewhere.close();
  });

  /** The development pages of the provider: who one is, then that the hub may know it. */
  async function throughProvider(visitor: Page, login: string): Promise<void> {
    await visitor.locator('input[name=login]').fill(login);
    await visitor.locator('input[name=password]').fill('any');
    await visitor.locator('button[type=submit]').click();
    await visitor.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
    await visitor.locator('button[type=submit]').click();
    await visitor.waitForURL((url) => url.href.startsWith(hub.httpUrl));
  }
});
