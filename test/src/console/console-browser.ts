/**
 * The console in a real Chromium, signed in by key. Watches for errors, for requests to other
 * origins, and for axe findings.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { HubProcess } from '../hub/hub-process.js';
import { PATIENCE } from '../patience.js';

type Hub = Pick<HubProcess, 'httpUrl' | 'adminKey'>;

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/**
 * Prints the reason and returns false without Chromium; fails instead if all tests are required.
 */
export function isChromiumInstalled(): boolean {
  if (existsSync(executablePath)) return true;
  if (process.env['FLOTILLA_TEST_REQUIRE'] === 'all')
    throw new Error(`FLOTILLA_TEST_REQUIRE=all, and there is no Chromium at ${executablePath}.`);
  process.stderr.write(`Skipping the stories of the web console: there is no Chromium at ${executablePath}.\n`);
  return false;
}

export function openBrowser(): Promise<Browser> {
  // Chromium's sandbox does not work as root; /dev/shm is small in containers.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });
}

export interface ConsolePage {
  readonly page: Page;
  /**
   * Problems in the browser so far: uncaught errors, Content-Security-Policy violations, requests
   * that left the hub.
   */
  readonly complaints: readonly string[];
  /** By its path, once its heading is there. */
  visit(path: string): Promise<void>;
  close(): Promise<void>;
}

export interface ConsoleOptions {
  /** The administrator's where not given; null does not sign in. */
  readonly key?: string | null;
  readonly url?: string;
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly locale?: string;
}

export async function openConsole(browser: Browser, hub: Hub, options: ConsoleOptions = {}): Promise<ConsolePage> {
  const {
    url = hub.httpUrl,
    width = 1360,
    height = 860,
    colorScheme = 'light',
    locale = 'en-GB',
    key = hub.adminKey,
  } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale,
    reducedMotion: 'reduce',
    baseURL: url,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000 * PATIENCE);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (/Content Security Policy|Minified React error/i.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(url))
      complaints.push(`left the hub: ${request.url()}`);
  });
  if (key !== null) await signInByKey(page, key);
  return {
    page,
    complaints,
    visit: async (path) => {
      await page.goto(path);
      await page.locator('h1').first().waitFor();
    },
    close: () => context.close(),
  };
}

export async function signInByKey(page: Page, key: string): Promise<void> {
  if (page.url() === 'about:blank') await page.goto('/');
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'API key' }).fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('#content').waitFor();
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** What axe calls serious or critical on the page as it is, one line each. */
export async function seriousViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  // GraphiQL is the editor of another project.
  const { violations } = (await page.evaluate('axe.run({ exclude: [".graphiql-container"] })')) as AxeResult;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ''}`),
    );
}

/** Images without a name in the tree that Chromium gives to assistive technology. */
export async function namelessImages(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const isImage = (role: unknown) => /^(img|image|svgroot|graphics-\w+)$/i.test(String(role));
  return nodes
    .filter(({ ignored, role, name }) => !ignored && isImage(role?.value) && String(name?.value ?? '').trim() === '')
    .map(({ role, backendDOMNodeId }) => `${String(role?.value)} ${String(backendDOMNodeId)}`);
}

/** Px: what a thumb hits. */
const targetMin = 44;

/** Buttons and fields that are smaller than a thumb. Links in a text may be smaller. */
export async function smallTargets(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const chosen = 'button, [role=tab], [role=menuitem], input:not([type=hidden]), select, textarea, summary';
    return [...document.querySelectorAll(chosen)].flatMap((element) => {
      // A label and a frame are parts of their field.
      const frame = element.closest('label, .mantine-Input-wrapper');
      const label = element.id === '' ? null : document.querySelector('label[for="' + element.id + '"]');
      const target = frame ?? (element.matches('[type=checkbox], [type=radio]') ? label : null) ?? element;
      const { width, height, top } = target.getBoundingClientRect();
      const style = getComputedStyle(element);
      const isHidden = width === 0 || height < 2 || style.visibility === 'hidden' || element.tabIndex < 0;
      // A tag in a row repeats what the filter offers.
      const isShortcut = element.matches('[role=cell] button:not(.mantine-Button-root)');
      // The editor of another project, on the page of the explorer.
      const isForeign = element.closest('.graphiql-container') !== null;
      if (isHidden || isShortcut || isForeign || element.closest('[aria-hidden=true]') || top > 4000) return [];
      if (height >= ${targetMin} - 0.5) return [];
      const name = element.getAttribute('aria-label') || element.textContent || element.id;
      return [element.tagName + ' ' + String(name).slice(0, 40) + ' ' + Math.round(width) + 'x' + Math.round(height)];
    });
  })()`);
}

/** How much of a table one must scroll sideways to see, px. */
export function hiddenWidth(page: Page, label: string): Promise<number> {
  const frame = page.getByRole('table', { name: label, exact: true }).locator('..');
  return frame.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
}
