/** Jobs in a real Chromium: wizard, failures in one group, pause and resume, rerun, export. */
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
import {
  fillNewJob,
  hiddenWidths,
  nextStep,
  pressNextWhileCounted,
  savedLines,
  stepsByKeyboard,
  stepsToStart,
  succeeded,
} from '../src/console/job-pages.js';
import { focusedText, tabTo } from '../src/console/keyboard.js';
import { loseAnswer } from '../src/console/lost-answer.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { jobCount, jobOf, online, setToolPolicy } from '../src/jobs/job-api.js';
import { type SimulatedFleet, startFleet } from '../src/devices/simulated-fleet.js';
import { PATIENCE } from '../src/patience.js';

/** The long form is what the fleet of an office has. */
const devices = process.env['FLOTILLA_TEST_LONG'] === '1' ? 500 : 60;
const refusing = 5;
const broken = { kind: 'errorWithoutCode', message: 'speaker is broken', tool: 'self.audio_speaker.set_volume' };

describe.skipIf(!isChromiumInstalled())('jobs in the console', () => {
  let hub: HubProcess;
  let fleets: readonly SimulatedFleet[];
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
    fleets = [
      startFleet(hub, { devices: devices - refusing, seed: 3 }),
      startFleet(hub, { devices: refusing, seed: 4, args: ['--behaviour', JSON.stringify(broken)] }),
    ];
    await online(hub, devices);
    console = await openConsole(browser, hub, { width: 1280 });
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets, consoles: [console] }));

  const next = () => nextStep(page);
  const focused = () => focusedText(page);

  it('explains how to start without jobs', async () => {
    await console.visit('/jobs');
    await page.getByText('No jobs yet').waitFor();
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByRole('heading', { level: 1, name: 'New job' }).waitFor();
  });

  it('says that no device has the tool of an old link', async () => {
    await console.visit('/jobs/new?tool=self.gone');
    await next();
    await page.getByText('“self.gone” is not in this list. Select another tool.').waitFor();
    await console.visit('/jobs/new');
  });

  it('goes to the next step by a click during which the number of devices appears', async () => {
    await console.visit('/jobs/new?tool=self.get_device_status');
    await pressNextWhileCounted(page, devices);
    await page.getByRole('heading', { name: 'Pace' }).waitFor();
    await console.visit('/jobs/new');
  });

  it('shows what a job would do before anything is sent', async () => {
    await fillNewJob(page, devices);
    const counts = await Promise.all(fleets.map((fleet) => fleet.counts()));
    expect(counts.map(({ tools }) => tools['self.audio_speaker.set_volume'] ?? 0)).toEqual([0, 0]);
  });

  it('has its steps in the address: Back, Forward and a reload keep what was typed', async () => {
    const heading = (name: string) => page.getByRole('heading', { level: 2, name, exact: true });
    expect(new URL(page.url()).searchParams.get('step')).toBe('check');
    await page.goBack();
    await heading('Abort rules').waitFor();
    await expect.poll(focused).toBe('Abort rules');
    expect(await page.getByLabel('Share of devices').inputValue()).toMatch(/^60/);
    await page.goBack();
    await page.goBack();
    await heading('Devices').waitFor();
    expect(await page.getByLabel('All devices').isChecked()).toBe(true);
    await page.goForward();
    await heading('Pace').waitFor();
    await page.reload();
    await heading('Pace').waitFor();
    expect(await page.getByLabel('Maximum devices per minute').inputValue()).toMatch(/^6,?000/);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: `Start on ${devices} devices` }).waitFor();
    // An address of another tab has no draft: it begins with the first step.
    const other = await openConsole(browser, hub);
    await other.visit(new URL(page.url()).pathname + new URL(page.url()).search);
    await other.page.getByRole('heading', { level: 2, name: 'Action' }).waitFor();
    await other.close();
  });

  it('shows what the hub refuses at its field', async () => {
    await page.getByRole('button', { name: 'Change: Pace' }).click();
    await page.getByText('In waves').click();
    await page.getByLabel('Up to').nth(1).fill('3');
    await next();
    await next();
    await page.getByRole('alert').getByText('each must be above the one before', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Go to “Pace”' }).click();
    await page.getByText('each must be above the one before', { exact: false }).waitFor();
    await page.getByText('All at once').click();
    await next();
    await next();
  });

  it('follows it to its end, with the failures in one group', async () => {
    await page.getByRole('button', { name: `Start on ${devices} devices` }).click();
    await page.getByRole('heading', { level: 1, name: 'Quiet night' }).waitFor();
    await page.getByText('Partly succeeded').waitFor({ timeout: 60_000 * PATIENCE });
    const failures = page.getByRole('region', { name: 'Failures' });
    await failures.getByText('speaker is broken', { exact: false }).waitFor();
    await failures.getByText(`${refusing}×`).waitFor();
    expect(await failures.getByRole('listitem').count()).toBe(1);
    const counts = await page.getByRole('region', { name: 'Progress' }).getByRole('listitem').allTextContents();
    expect(counts).toEqual([`Succeeded${devices - refusing}`, `Failed${refusing}`]);
    // The same for a page opened later.
    await page.reload();
    await page
      .getByRole('img', { name: `Succeeded ${devices - refusing}, Failed ${refusing}`, exact: false })
      .waitFor();
    await page.getByText('All settings').click();
    await page.getByText('Pause when 60% of the devices ended as', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('filters its devices by outcome', async () => {
    const targets = page.getByRole('region', { name: 'Devices' }).first();
    await targets.getByRole('combobox', { name: 'Outcomes' }).click();
    await page.getByRole('option', { name: 'Failed', exact: true }).click();
    await page.keyboard.press('Escape');
    await expect.poll(() => targets.getByRole('row').count()).toBe(refusing + 1);
    await page.reload();
    await expect.poll(() => targets.getByRole('row').count()).toBe(refusing + 1);
  });

  it('saves the results as a file', async () => {
    await page.getByRole('button', { name: 'Export' }).click();
    const lines = await savedLines(page, page.getByRole('menuitem', { name: 'Results as CSV' }), '\n');
    expect(lines).toHaveLength(devices + 1);
  });

  it('lists what failed in the whole fleet, from Overview, by device and tool', async () => {
    const back = page.url();
    await console.visit('/');
    await page.getByRole('link', { name: 'Calls that failed' }).click();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    const calls = page.getByRole('table', { name: 'Calls' });
    await expect.poll(() => calls.getByRole('row').count()).toBe(refusing + 1);
    expect(await calls.getByText('speaker is broken', { exact: false }).count()).toBe(refusing);
    const lines = await savedLines(page, page.getByRole('button', { name: 'Save as CSV' }), '\r\n');
    expect(lines).toHaveLength(refusing + 1);
    const device = (await calls.getByRole('row').nth(1).getByRole('link').textContent()) ?? '';
    await page.getByRole('searchbox', { name: 'Device' }).fill(device);
    await expect.poll(() => calls.getByRole('row').count()).toBe(2);
    expect(page.url()).toContain(encodeURIComponent(device));
    await calls.getByRole('button', { name: 'self.audio_speaker.set_volume' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Part of a job' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Tool' }).fill('self.no_such_tool');
    await page.getByText('No call matches', { exact: false }).waitFor();
    await page.goto(back);
  });

  it('shows its tables on a screen of 1280 px, without scrolling sideways', async () => {
    const back = new URL(page.url());
    await page.getByRole('table', { name: 'Devices', exact: true }).getByRole('row').nth(1).waitFor();
    const others = ['Devices', 'Jobs', 'Calls', 'Audit'];
    const hidden = [await hiddenWidth(page, 'Devices'), ...(await hiddenWidths(console, others))];
    expect(hidden).toEqual([0, 0, 0, 0, 0]);
    await console.visit(`${back.pathname}${back.search}`);
  });

  it('runs what failed again', async () => {
    await page.getByRole('button', { name: `Run again on ${refusing} devices` }).click();
    await page.getByRole('link', { name: 'previous job' }).waitFor();
    await page.getByText(`${refusing} of ${refusing}`).first().waitFor();
  });

  it('asks before it runs a disruptive job again, and not before a harmless one', async () => {
    // The run again above started without a question. The same tool is now known to disrupt.
    const policy = { pattern: 'self.audio_speaker.set_volume', idempotent: false, disruptive: true };
    await setToolPolicy(hub, policy);
    const input = { name: 'Loud', tool: policy.pattern, arguments: { volume: 90 }, devices: { all: true }, abort: [] };
    await console.visit(`/jobs/${await jobOf(hub, input, 'loud')}`);
    const again = page.getByRole('button', { name: `Run again on ${refusing} devices` });
    await again.click({ timeout: 60_000 * PATIENCE });
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This disrupts the devices', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: `Run again on ${refusing} devices` }).click();
    await page.getByRole('link', { name: 'previous job' }).waitFor();
  });

  it('can be made by keyboard alone', async () => {
    await console.visit('/jobs/new?tool=self.get_device_status');
    // The arguments are checked against the tool, which the page reads first.
    const tool = page.getByRole('combobox', { name: 'Tool', exact: true });
    await expect.poll(() => tool.inputValue()).toContain('self.get_device_status');
    await tabTo(page, 'Job name');
    await page.keyboard.type('Typed');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Devices');
    await tabTo(page, 'Next');
    await page.keyboard.press('Enter');
    // What is missing has the focus, and says what is wrong.
    await expect.poll(focused).toBe('All devices');
    await page.getByText('Add a condition', { exact: false }).waitFor();
    await page.keyboard.press('Space');
    await stepsByKeyboard(page, ['Pace', 'Abort rules', 'Review and start']);
    await page.getByRole('button', { name: `Start on ${devices} devices` }).waitFor();
    await tabTo(page, `Start on ${devices} devices`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Typed' }).waitFor();
    await succeeded(page);
  });

  it('waits at a gate until an operator opens the next wave', async () => {
    const waves = [{ count: 5, gate: 'MANUAL' }];
    const input = { name: 'In waves', tool: 'self.get_device_status', devices: { all: true }, waves };
    await console.visit(`/jobs/${await jobOf(hub, input, 'in-waves')}`);
    await page.getByText('Wave 1 is done. Open the next wave to continue').waitFor();
    const rows = page.getByRole('region', { name: 'Waves' }).getByRole('row');
    await rows.filter({ hasText: 'At its gate' }).waitFor();
    await rows.filter({ hasText: 'Not open yet' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Open the next wave' }).click();
    await succeeded(page);
  });

  it('pauses, resumes and cancels a job that runs, and the list follows', async () => {
    const input = {
      name: 'Slow',
      tool: 'self.get_device_status',
      devices: { all: true },
      perMinute: 60,
      maxInFlight: 1,
    };
    const id = await jobOf(hub, input, 'slow');
    await console.visit(`/jobs/${id}`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('by an operator').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Running').waitFor();
    await page.getByRole('button', { name: 'Cancel job' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Keep running' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByRole('status').getByText('Cancelled').waitFor();
    await console.visit('/jobs');
    await page.getByRole('row').filter({ hasText: 'Slow' }).getByText('Cancelled').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('is started once, also if its answer was lost and the page is loaded again', async () => {
    const before = await jobCount(hub);
    await console.visit('/jobs/new?tool=self.get_device_status');
    const start = await stepsToStart(page);
    await loseAnswer(page, 'CreateJob', () => start.click());
    await start.click();
    await page.waitForURL(/\/jobs\/[0-9a-f]{8}-/);
    expect(await jobCount(hub)).toBe(before + 1);
  });

  it('runs what failed again once, also if the answer was lost and the page is loaded again', async () => {
    const input = { name: 'Lost', tool: broken.tool, arguments: { volume: 80 }, devices: { all: true }, abort: [] };
    await console.visit(`/jobs/${await jobOf(hub, input, 'lost')}`);
    const before = await jobCount(hub);
    const again = page.getByRole('button', { name: `Run again on ${refusing} devices` });
    const confirm = page.getByRole('dialog').getByRole('button', { name: `Run again on ${refusing} devices` });
    const rerun = async () => {
      await again.click({ timeout: 60_000 * PATIENCE });
      await confirm.click();
    };
    await loseAnswer(page, 'RerunJob', rerun);
    await rerun();
    await page.getByRole('link', { name: 'previous job' }).waitFor();
    expect(await jobCount(hub)).toBe(before + 1);
  });
});
