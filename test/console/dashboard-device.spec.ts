/**
 * The device page in a real Chromium: a tool call updates the state, a snapshot appears, calls and
 * history are listed.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { ask } from '../src/api/graphql-client.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { type SimulatedFleet, startFleet } from '../src/devices/simulated-fleet.js';
import { PATIENCE } from '../src/patience.js';
import { startVoiceServer, type VoiceServerProcess } from '../src/voice/voice-server.js';

describe.skipIf(!isChromiumInstalled())('the page of a device', () => {
  /** Speaks to the hub as a vision model does. */
  const model = createServer((_request, response) => {
    response.end(JSON.stringify({ choices: [{ message: { content: 'A grey wall.' } }] }));
  });
  let voice: VoiceServerProcess;
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;
  let device: string;

  beforeAll(async () => {
    model.listen(0, '127.0.0.1');
    await once(model, 'listening');
    voice = await startVoiceServer(['--not-bound', '*']);
    const visionUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
    const env = { FLOTILLA_VISION_URL: visionUrl, FLOTILLA_VISION_MODEL: 'eyes-1', FLOTILLA_VOICE_URL: voice.url };
    [hub, browser] = await Promise.all([startHub({ env }), openBrowser()]);
    fleet = startFleet(hub, { devices: 1, profile: 'screen-camera', seed: 31 });
    await online(hub, 1);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      '{ devices(first: 1) { nodes { id } } }',
    );
    device = devices.nodes[0]?.id ?? '';
    console = await openConsole(browser, hub);
    page = console.page;
    await console.visit(`/devices/${device}`);
  });

  afterAll(async () => {
    await endConsoleStory({ hub, browser, fleets: [fleet], consoles: [console] });
    await voice.stop();
    model.close();
  });

  const tool = (name: string) => page.getByRole('form', { name });
  const tab = (name: string) => page.getByRole('tab', { name }).click();

  it('keeps the sign of a number that is typed, and sends no sign alone', async () => {
    await page.getByRole('button', { name: 'self.audio_speaker.set_volume' }).click();
    const form = tool('self.audio_speaker.set_volume');
    const volume = form.getByRole('textbox', { name: 'volume' });
    await volume.fill('5');
    await volume.selectText();
    await volume.pressSequentially('-12');
    expect(await volume.inputValue()).toBe('-12');
    await volume.fill('-');
    await volume.press('Enter');
    await form.getByText('Enter a value.').waitFor();
    await page.getByRole('button', { name: 'self.audio_speaker.set_volume' }).click();
  });

  it('sets the volume by its form, and the reported state follows', async () => {
    await page.getByRole('button', { name: 'self.audio_speaker.set_volume' }).click();
    const form = tool('self.audio_speaker.set_volume');
    await form.getByRole('slider').press('End');
    expect(await form.getByRole('textbox', { name: 'volume' }).inputValue()).toBe('100');
    await form.getByRole('textbox', { name: 'volume' }).fill('37');
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole('button', { name: 'Call' }).click();
    await form.getByText('Succeeded').first().waitFor();
    const state = page.getByRole('region', { name: 'Reported state' });
    const name = state.getByRole('term').filter({ hasText: 'audio_speaker.volume' });
    // Another value of the device may be 37, too.
    await name.locator('xpath=following-sibling::dd[1]').getByText('37', { exact: true }).waitFor();
  });

  it('refuses nothing by itself, and shows what the hub says', async () => {
    const form = tool('self.audio_speaker.set_volume');
    await form.getByRole('textbox', { name: 'volume' }).fill('400');
    await form.getByRole('button', { name: 'Call' }).click();
    await form.getByText('Rejected').first().waitFor();
    await form.getByRole('code').getByText('ARGUMENTS_INVALID').waitFor();
  });

  it('keeps the last results with the tool, and favourites first', async () => {
    const form = tool('self.audio_speaker.set_volume');
    await form.getByRole('button', { name: '400', exact: false }).waitFor();
    await form.getByRole('button', { name: '37', exact: false }).click();
    expect(await seriousViolations(page)).toEqual([]);
    const lines = page.getByRole('region', { name: 'Tools', exact: true }).getByRole('heading', { level: 3 });
    const last = (await lines.last().innerText()).split('\n')[0] ?? '';
    await page.reload();
    await lines.first().getByText('self.audio_speaker.set_volume').waitFor();
    await page
      .getByRole('region', { name: 'Tools', exact: true })
      .getByRole('button', { name: 'Favourite' })
      .last()
      .click();
    await lines.first().getByText(last).waitFor();
    await page.reload();
    await lines.first().getByText(last).waitFor();
  });

  it('asks before a tool that disrupts', async () => {
    await page.getByRole('button', { name: 'self.reboot' }).click();
    await tool('self.reboot').getByRole('button', { name: 'Call' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This disrupts', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Do not call' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await fleet.counts()).tools['self.reboot'] ?? 0).toBe(0);
  });

  it('shows a snapshot of the screen as soon as it is there', async () => {
    await tab('Pictures');
    await page.getByRole('button', { name: 'Take a snapshot' }).click();
    // It came with the key and is drawn: the policy of the page let it through.
    await expect
      .poll(() => page.evaluate("document.querySelector('img[alt=Snapshot]')?.naturalWidth > 0"), {
        timeout: 10_000 * PATIENCE,
      })
      .toBe(true);
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('shows a photo of the camera with what a model says of it, without a reload', async () => {
    await page.getByRole('textbox', { name: 'Question about the photo' }).fill('What is it?');
    await page.getByRole('button', { name: 'Take a photo' }).click();
    await page.getByText('A grey wall.').waitFor();
    await expect
      .poll(() => page.evaluate("document.querySelector('img[alt=Photo]')?.naturalWidth > 0"), {
        timeout: 10_000 * PATIENCE,
      })
      .toBe(true);
    await page.getByRole('button', { name: 'Photo', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What is it?').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(() => page.evaluate("document.activeElement?.querySelector('img[alt=Photo]') !== null"))
      .toBe(true);
  });

  it('lists calls, sessions and events', async () => {
    await tab('Calls');
    await page.getByRole('button', { name: 'self.audio_speaker.set_volume' }).first().click();
    await page.getByRole('dialog').getByText('"volume": 400', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await tab('History');
    await page.getByText('still open').waitFor();
    await tab('Events');
    await page.getByRole('button', { name: 'upload.received' }).first().waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('shows how a call ends that one looks at', async () => {
    let isInFlight = true;
    const delay = async (route: Route) => {
      if (!route.request().postData()?.includes('query Calls')) return route.fallback();
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({
        response,
        body: isInFlight ? text.replace(/"outcome":"[A-Z_]+"/g, '"outcome":null') : text,
      });
    };
    await page.route('**/graphql', delay);
    await console.visit(`/devices/${device}?tab=calls`);
    await page.getByRole('button', { name: 'self.audio_speaker.set_volume' }).first().click();
    const outcome = page.getByRole('dialog').getByRole('status');
    await outcome.getByText('In flight').waitFor();
    isInFlight = false;
    await outcome.getByText('In flight').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.unroute('**/graphql', delay);
  });

  it('takes a new name and tags', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Front desk');
    await dialog.getByLabel('Tags').fill('lobby');
    await dialog.getByLabel('Tags').press('Enter');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Front desk' }).waitFor();
    await page.getByRole('link', { name: 'lobby' }).waitFor();
  });

  it('asks before it gives a new credential or is removed', async () => {
    const more = page.getByRole('button', { name: 'More actions' });
    await more.click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The hub deletes its name', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep device' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(() => page.evaluate('document.activeElement?.getAttribute("aria-label") === "More actions"'))
      .toBe(true);
  });

  it('tails events, with a filter and a pause', async () => {
    await console.visit('/events?types=%5B%22device.state_changed%22%5D');
    await page.getByRole('button', { name: 'device.state_changed' }).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    const before = await page.getByRole('row').count();
    await ask(hub, 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }', {
      input: { deviceId: device, tool: 'self.audio_speaker.set_volume', arguments: { volume: 61 } },
    });
    await ask(hub, 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }', {
      input: { deviceId: device, tool: 'self.get_device_status' },
    });
    await page.getByText('Paused, 1 new').waitFor();
    expect(await page.getByRole('row').count()).toBe(before);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(before + 1);
  });

  it('says that the device is not bound at its voice server, and what to do', async () => {
    await fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'talk', packets: 1 } });
    const said = () =>
      ask<{ events: { nodes: unknown[] } }>(
        hub,
        '{ events(filter: { types: ["device.conversation"] }) { nodes { id } } }',
      );
    await expect.poll(async () => (await said()).events.nodes.length, { timeout: 15_000 * PATIENCE }).toBe(1);
    await console.visit(`/devices/${device}`);
    const { host } = new URL(voice.url);
    await page
      .getByText(`This device is not bound at the voice server ${host}. Add the device ${device} to an agent`, {
        exact: false,
      })
      .waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await console.visit('/settings');
    await page.getByRole('table', { name: 'Voice servers' }).getByText('Device not bound').waitFor();
    await page.getByText(`${voice.url}: the last rejected device was not bound there.`, { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('has its only tag in full in the table of devices', async () => {
    const input = { deviceId: device, tags: ['warehouse-north'] };
    await ask(hub, 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { code } } }', {
      input,
    });
    await console.visit('/devices');
    const tag = page.getByRole('button', { name: 'warehouse-north' });
    const [isCut, width] = await tag.evaluate((shown) => [shown.scrollWidth > shown.clientWidth, shown.clientWidth]);
    expect(width).toBeGreaterThan(0);
    expect(isCut).toBe(false);
  });
});
