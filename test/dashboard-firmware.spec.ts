/** Firmware in a real Chromium: an image is dropped in, says what it is, is published for a board, and rolled out through the wizard. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePage, isChromiumInstalled, openBrowser, openConsole, seriousViolations } from './src/console-browser.js';
import { endConsoleStory } from './src/end-console-story.js';
import { makeImage } from './src/firmware-image.js';
import { type HubProcess, startHub } from './src/hub-process.js';
import { online } from './src/job-api.js';
import { createEnrolmentLink } from './src/provisioning-api.js';
import { type SimulatedFleet, startFleet } from './src/simulated-fleet.js';

const devices = 4;

describe.skipIf(!isChromiumInstalled())('firmware in the console', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub({ env: { FLOTILLA_VERIFY_SOAK_SECONDS: '1' } }), openBrowser()]);
    const ota = await createEnrolmentLink(hub, { maxDevices: devices });
    fleet = startFleet(hub, { devices, profile: 'lamp', seed: 5, ota, args: ['--speed', '20'] });
    await online(hub, devices);
    console = await openConsole(browser, hub);
    page = console.page;
    await console.visit('/firmware');
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet], consoles: [console] }));

  const chooseFile = async (name: string, bytes: Uint8Array) => {
    const file = path.join(hub.dataDir, name);
    writeFileSync(file, bytes);
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
  };

  it('refuses a file that is no image, in words', async () => {
    await page.getByText('No images yet').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await chooseFile('notes.bin', new TextEncoder().encode('not an image'));
    await page.getByRole('alert').waitFor();
    await page.getByText('No images yet').waitFor();
  });

  it('takes an image in and shows what it says of itself', async () => {
    const bytes = Buffer.from(makeImage({ version: '9.1.0' })).toString('base64');
    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob('${bytes}'), (character) => character.charCodeAt(0))], 'xiaozhi.bin'));
      return transfer;
    })()`);
    await page.getByText('Drop the .bin file here', { exact: false }).dispatchEvent('drop', { dataTransfer });
    const card = page.getByRole('region', { name: /9\.1\.0/ });
    await card.getByText('Not published').waitFor();
    await card.getByText('SHA-256', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('publishes it for a board, and rolls it out through the wizard', async () => {
    const card = page.getByRole('region', { name: /9\.1\.0/ });
    await card.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Boards' }).fill('bread-compact-wifi');
    await dialog.getByRole('combobox', { name: 'Boards' }).press('Enter');
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await card.getByText('Published').waitFor();
    await card.getByRole('link', { name: 'Roll out' }).click();
    const next = () => page.getByRole('button', { name: 'Next' }).click();
    await next();
    await page.getByLabel('All devices').check();
    await next();
    await page.getByText('All at once').click();
    await next();
    await next();
    await page.getByRole('button', { name: `Start on ${devices} devices` }).click();
    await page.getByRole('link', { name: /9\.1\.0/ }).waitFor();
    await page.getByRole('status').getByText('Succeeded', { exact: true }).waitFor({ timeout: 60_000 });
  });

  it('shows the versions over the fleet', async () => {
    await console.visit('/firmware');
    const versions = page.getByRole('region', { name: 'Versions over the fleet' });
    await versions.getByRole('link', { name: '9.1.0' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });
});
