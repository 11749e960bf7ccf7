/**
 * Firmware in a real Chromium: an image is uploaded, published and rolled out. A faulty one is
 * stopped at its canary and reverted.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { makeImage, publishedImage } from '../src/jobs/firmware-image.js';
import { ask } from '../src/api/graphql-client.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { type SimulatedFleet, startFleet } from '../src/devices/simulated-fleet.js';
import { PATIENCE } from '../src/patience.js';

const lamps = 4;
const robots = 2;
const devices = lamps + robots;
/** Robots go back to what they had before when they are to run this. */
const bad = '9.9.9';
const boards = ['bread-compact-wifi', 'otto-robot'];

describe.skipIf(!isChromiumInstalled())('firmware in the console', () => {
  let hub: HubProcess;
  let fleets: readonly SimulatedFleet[];
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub({ env: { FLOTILLA_VERIFY_SOAK_SECONDS: '1' } }), openBrowser()]);
    const ota = await createEnrolmentLink(hub, { maxDevices: devices });
    const breaks = JSON.stringify({ kind: 'upgradeFault', how: 'rollBack', version: bad });
    fleets = [
      startFleet(hub, { devices: lamps, profile: 'lamp', seed: 5, ota, args: ['--speed', '20'] }),
      startFleet(hub, {
        devices: robots,
        profile: 'robot',
        seed: 6,
        ota,
        args: ['--speed', '20', '--behaviour', breaks],
      }),
    ];
    await online(hub, devices);
    console = await openConsole(browser, hub);
    page = console.page;
    await console.visit('/firmware');
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets, consoles: [console] }));

  const chooseFile = async (name: string, bytes: Uint8Array) => {
    const file = path.join(hub.dataDir, name);
    writeFileSync(file, bytes);
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
  };

  it('rejects a file that is not an image, with an explanation', async () => {
    await page.getByText('No images yet').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await chooseFile('notes.bin', new TextEncoder().encode('not an image'));
    await page.getByRole('alert').waitFor();
    // A browser reports no change where the field still has the same file.
    expect(await page.getByLabel('File', { exact: true }).inputValue()).toBe('');
    await page.getByText('No images yet').waitFor();
  });

  it('takes an image in and shows what it says of itself', async () => {
    const bytes = Buffer.from(makeImage({ version: '9.1.0' })).toString('base64');
    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      const bytes = Uint8Array.from(atob('${bytes}'), (character) => character.charCodeAt(0));
      transfer.items.add(new File([bytes], 'xiaozhi.bin'));
      return transfer;
    })()`);
    await page.getByText('Drop the .bin file here', { exact: false }).dispatchEvent('drop', { dataTransfer });
    const card = page.getByRole('region', { name: /9\.1\.0/ });
    await card.getByText('Not published').waitFor();
    await card.getByText('SHA-256', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('publishes it for its boards, and rolls it out through the wizard', async () => {
    const card = page.getByRole('region', { name: /9\.1\.0/ });
    await card.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog');
    for (const board of boards) {
      await dialog.getByRole('combobox', { name: 'Boards' }).fill(board);
      await dialog.getByRole('combobox', { name: 'Boards' }).press('Enter');
    }
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await card.getByText('Published').waitFor();
    await card.getByRole('link', { name: 'Roll out' }).click();
    await page.getByText('If empty, the image and its version are used.').waitFor();
    const next = () => page.getByRole('button', { name: 'Next' }).click();
    await next();
    // The boards of the image are chosen.
    await page.getByText(boards.map((board) => `Model: ${board}`).join(' or ')).waitFor();
    await next();
    await page.getByText('All at once').click();
    await next();
    await next();
    await page.getByRole('button', { name: `Start on ${devices} devices` }).click();
    await page.getByRole('link', { name: /9\.1\.0/ }).waitFor();
    await page
      .getByRole('status')
      .getByText('Succeeded', { exact: true })
      .waitFor({ timeout: 60_000 * PATIENCE });
  });

  it('shows the versions over the fleet', async () => {
    await console.visit('/firmware');
    const versions = page.getByRole('region', { name: 'Versions in the fleet' });
    await versions.getByRole('link', { name: '9.1.0' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('stops an image that breaks a board at its canary, and says why', async () => {
    const imageId = await publishedImage(hub, makeImage({ version: bad }), boards);
    await console.visit(`/jobs/new?firmwareImageId=${imageId}`);
    const next = () => page.getByRole('button', { name: 'Next' }).click();
    await next();
    await page.getByLabel('All devices').check();
    await next();
    // One of each board.
    await page.getByRole('combobox', { name: 'Unit' }).first().click();
    await page.getByRole('option', { name: 'devices', exact: true }).click();
    await page.getByLabel('Devices', { exact: true }).fill('2');
    expect(await seriousViolations(page)).toEqual([]);
    await next();
    await next();
    await page.getByRole('button', { name: `Start on ${devices} devices` }).click();
    await page.getByText('Stopped by an abort rule in wave 1').waitFor({ timeout: 60_000 * PATIENCE });
    await page.getByText('1 of 2 counted devices failed: Failed, Verification failed, or Unknown.').waitFor();
    const failures = page.getByRole('region', { name: 'Failures' });
    await failures.getByText('NOT_APPLIED_OR_ROLLED_BACK').waitFor();
    await failures.getByText('otto-robot').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await countOn(bad)).toBe(1);
  });

  it('brings the devices back', async () => {
    await page.getByRole('button', { name: 'Revert' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revert' }).click();
    await page.getByRole('link', { name: /9\.1\.0/ }).waitFor();
    await page.getByRole('link', { name: 'previous job' }).waitFor();
    await page
      .getByRole('status')
      .getByText('Succeeded', { exact: true })
      .waitFor({ timeout: 60_000 * PATIENCE });
    expect(await countOn(bad)).toBe(0);
    expect(await countOn('9.1.0')).toBe(devices);
  });

  const countOn = async (firmwareVersion: string) => {
    const query = 'query ($filter: DeviceFilter!) { devices(filter: $filter) { totalCount } }';
    return (await ask<{ devices: { totalCount: number } }>(hub, query, { filter: { firmwareVersion } })).devices
      .totalCount;
  };
});
