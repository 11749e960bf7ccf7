/** A desired state in the console: from a tool to its page, a turned knob, an edit and its end. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import {
  type ConsolePage,
  hiddenWidth,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { holdAnswer } from '../src/console/held-answer.js';
import { focusedText } from '../src/console/keyboard.js';
import { eventually } from '../src/eventually.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

const DEVICES = 4;
const VOLUME = 'self.audio_speaker.set_volume';
const FIRST = '02:00:01:00:00:00';
const phone = { width: 390, height: 844 };

describe.skipIf(!isChromiumInstalled())('a desired state in the console', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
    fleet = startFleet(hub, { devices: DEVICES, profile: 'screen-camera' });
    await online(hub, DEVICES);
    console = await openConsole(browser, hub, { width: 1280 });
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet], consoles: [console] }));

  /** The form, where a filter is replaced by the whole fleet. */
  const chooseAll = async () => {
    const clear = page.getByRole('button', { name: 'Clear all' });
    if ((await clear.count()) > 0) await clear.click();
    await page.getByLabel('All devices').check();
  };

  it('begins at a tool of a device, with a preview before it is saved', async () => {
    await console.visit('/desired');
    await page.getByText('No desired states yet').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await console.visit(`/devices/${FIRST}`);
    await page.getByRole('button', { name: /^self\.audio_speaker\.set_volume/ }).click();
    await page.getByRole('textbox', { name: 'volume', exact: true }).fill('30');
    await page.getByRole('link', { name: 'Keep it so' }).click();
    await page.getByRole('heading', { level: 1, name: 'New desired state' }).waitFor();
    await page.getByLabel(/^Name/).fill('Quiet shop');
    await chooseAll();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('Would change', { exact: true }).waitFor();
    await preview.getByRole('definition').filter({ hasText: /^4$/ }).first().waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create desired state' }).click();
    await page.getByRole('heading', { level: 1, name: 'Quiet shop' }).waitFor();
    await page.getByText('4 of 4 in sync').waitFor();
    await page.getByText('Every device to which it applies is in sync.').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('is created by a click during which the preview appears', async () => {
    await page.route('**/graphql', (route) =>
      /mutation CreateDesiredState/.test(route.request().postData() ?? '') ? route.abort() : route.fallback(),
    );
    const answer = await holdAnswer(page, /query PreviewDesiredState/);
    await console.visit(`/desired/new?tool=${VOLUME}`);
    await page.getByRole('textbox', { name: 'Name' }).fill('Loud shop');
    await page.getByRole('textbox', { name: 'volume', exact: true }).fill('70');
    await chooseAll();
    await page.getByRole('button', { name: 'Create desired state' }).hover();
    await page.mouse.down();
    answer();
    await page.getByText('want another value with equal priority').waitFor();
    await page.mouse.up();
    await page.getByText('may or may not have happened', { exact: false }).waitFor();
    await page.unrouteAll();
  });

  it('leads to the first field that is missing', async () => {
    await console.visit('/desired/new');
    const create = page.getByRole('button', { name: 'Create desired state' });
    const topOf = async (shown: typeof create) => (await shown.boundingBox())?.y ?? NaN;
    expect(await topOf(create)).toBeLessThan(await topOf(page.getByRole('heading', { name: 'Preview' })));
    const isFocused = (label: string) =>
      eventually(
        () => focusedText(page),
        (text) => text.startsWith(label),
      );
    await create.click();
    await isFocused('Name');
    await page.keyboard.type('Dim screens');
    await create.click();
    await isFocused('Tool');
    await page.getByRole('combobox', { name: 'Tool' }).fill('volume');
    await page.getByRole('option', { name: VOLUME }).click();
    await create.click();
    await isFocused('volume');
    await page.keyboard.type('30');
    await create.click();
    await isFocused('All devices');
  });

  it('leads to the list of tools where it did not load', async () => {
    await page.route('**/graphql', (route) =>
      (route.request().postData() ?? '').includes('query JobToolChoices')
        ? route.fulfill({ status: 503, body: 'busy' })
        : route.continue(),
    );
    await console.visit('/desired/new?tool=self.audio_speaker.set_volume');
    await page.getByRole('textbox', { name: 'Name' }).fill('Dim screens');
    await page.getByLabel('All devices').check();
    await page.getByRole('alert').getByText('Could not load this').waitFor();
    await page.getByRole('button', { name: 'Create desired state' }).click();
    await eventually(
      () => focusedText(page),
      (text) => text === 'Try again',
    );
    await page.unroute('**/graphql');
  });

  it('shows a knob that a person turned, on its page, at the device and in the list', async () => {
    await fleet.perform({ cmd: 'turnKnob', device: FIRST, knob: 'volume', value: 80 });
    // The hub reads the value with the next call of the status tool.
    await console.visit(`/devices/${FIRST}`);
    await page.getByRole('button', { name: /^self\.get_device_status/ }).click();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    const panel = page.getByRole('region', { name: 'Desired states' });
    await panel.getByText('Held', { exact: true }).waitFor();
    await panel.getByText('desired 30, reported 80').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await panel.getByRole('link', { name: 'Quiet shop' }).click();
    await page.getByText('3 of 4 in sync').waitFor();
    await page.getByRole('table', { name: 'Devices of this state' }).getByText('It is set again').waitFor();
    expect(await hiddenWidth(page, 'Devices of this state')).toBe(0);
    await console.visit('/devices?outOfSync=true');
    await page.getByRole('link', { name: FIRST }).waitFor();
    await page.getByText('1 device, 1 online').waitFor();
  });

  it('is edited with what changed in its history, on a phone, too', async () => {
    await console.visit('/desired');
    await page.getByRole('link', { name: 'Quiet shop' }).waitFor();
    expect(await hiddenWidth(page, 'Desired states')).toBe(0);
    await page.getByRole('link', { name: 'Quiet shop' }).click();
    await page.setViewportSize(phone);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'volume', exact: true }).fill('20');
    await page.getByRole('region', { name: 'Preview' }).getByText('Would change', { exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('4 of 4 in sync').waitFor();
    const edits = page.getByRole('region', { name: 'Edits' });
    await edits.getByText('arguments.volume').waitFor();
    expect(await edits.getByRole('listitem').filter({ hasText: 'arguments.volume' }).first().innerText()).toMatch(
      /30 → 20/,
    );
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(phone.width);
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('shows older edits on request', async () => {
    await page.route('**/graphql', (route) =>
      route.continue({
        postData: (route.request().postData() ?? '').replace('editsConnection(first: 50', 'editsConnection(first: 1'),
      }),
    );
    await page.reload();
    const edits = page.getByRole('region', { name: 'Edits' });
    const older = edits.getByRole('button', { name: 'Show older edits' });
    await older.waitFor();
    expect(await edits.innerText()).not.toContain('30 → 20');
    await older.click();
    await edits.getByText('arguments.volume').waitFor();
    await older.waitFor({ state: 'detached' });
    await page.unroute('**/graphql');
  });

  it('opens its form by itself after a read that failed', async () => {
    let isBusy = true;
    await page.route('**/graphql', (route) =>
      isBusy && /query DesiredState\b/.test(route.request().postData() ?? '')
        ? route.fulfill({ status: 503, body: 'busy' })
        : route.continue(),
    );
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByRole('alert').getByText('Could not load this').waitFor();
    isBusy = false;
    await page.getByRole('textbox', { name: 'volume', exact: true }).waitFor();
    await page.unroute('**/graphql');
  });

  it('stays disabled where another person disables it while a form is open', async () => {
    await console.visit('/desired');
    await page.getByRole('link', { name: 'Quiet shop' }).click();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'volume', exact: true }).fill('25');
    const { desiredStates } = await ask<{ desiredStates: { nodes: { id: string }[] } }>(
      hub,
      '{ desiredStates { nodes { id } } }',
    );
    const disabled = 'setDesiredStateEnabled(id: $id, enabled: false) { userErrors { message } }';
    await ask(hub, `mutation ($id: ID!) { ${disabled} }`, { id: desiredStates.nodes[0]?.id });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('It is disabled: it covers no devices and sends nothing.').waitFor();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('4 of 4 in sync').waitFor();
  });

  it('is edited from what another person saved while its page was open', async () => {
    const { desiredStates } = await ask<{ desiredStates: { nodes: { id: string; generation: number }[] } }>(
      hub,
      '{ desiredStates { nodes { id generation } } }',
    );
    const change =
      'updateDesiredState(id: $id, expectedGeneration: $generation, input: $input) { userErrors { message } }';
    const input = { name: 'Quieter shop', tool: VOLUME, arguments: { volume: 35 }, devices: { all: true } };
    await ask(hub, `mutation ($id: ID!, $generation: Int!, $input: DesiredStateInput!) { ${change} }`, {
      ...desiredStates.nodes[0],
      input,
    });
    await page.getByRole('heading', { level: 1, name: 'Quieter shop' }).waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    const volume = page.getByRole('textbox', { name: 'volume', exact: true });
    await volume.waitFor();
    expect(await volume.inputValue()).toBe('35');
    await page.getByLabel(/^Name/).fill('Quiet shop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Quiet shop' }).waitFor();
    await page.getByText('4 of 4 in sync').waitFor();
  });

  it('names a conflict before it is saved, and is disabled and deleted', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await console.visit(`/desired/new?tool=${VOLUME}&arguments=${encodeURIComponent('{"volume":70}')}`);
    await chooseAll();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByRole('link', { name: 'Quiet shop' }).click();
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('It is disabled: it covers no devices and sends nothing.').waitFor();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('4 of 4 in sync').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No desired states yet').waitFor();
  });

  it('says that its roll-out ended, and which devices it has not reached', async () => {
    const { createDesiredState: made } = await ask<{
      createDesiredState: { desiredState: { id: string; rollout: { id: string } } };
    }>(
      hub,
      `mutation ($input: DesiredStateInput!) { createDesiredState(idempotencyKey: "waves", input: $input) {
        desiredState { id rollout { id } } } }`,
      {
        input: {
          name: 'Waves',
          tool: VOLUME,
          arguments: { volume: 55 },
          devices: { all: true },
          waves: [{ count: 1, gate: 'MANUAL' }],
        },
      },
    );
    const { id, rollout } = made.desiredState;
    await console.visit(`/desired/${id}`);
    await page.getByText('1 of 4 in sync').waitFor();
    const ended = page.getByText('It ended before it reached all devices.', { exact: false });
    expect(await ended.count()).toBe(0);
    await ask(hub, 'mutation ($id: ID!) { cancelJob(id: $id) { userErrors { message } } }', rollout);
    await ended.waitFor();
    const left = page.getByRole('table', { name: 'Devices of this state' }).getByText('has not reached this device');
    await expect.poll(() => left.count()).toBe(3);
    expect(await seriousViolations(page)).toEqual([]);
  });
});
