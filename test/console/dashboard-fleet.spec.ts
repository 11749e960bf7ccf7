/**
 * The console over 5,000 devices: live overview, filter in the address, bulk tags, reconnect,
 * session end.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
  signInByKey,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { addCondition, buttonColours, editGroup } from '../src/console/device-list.js';
import { serveNewerConsole } from '../src/console/newer-console.js';
import { registerDevice, registerRooms, updateDevice } from '../src/console/registered-rooms.js';
import { makeKey, revokeKey } from '../src/api/api-keys.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { groupsOf, updateGroup } from '../src/devices/group-api.js';
import { online as devicesOnline } from '../src/jobs/job-api.js';
import { holdAnswer } from '../src/console/held-answer.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { openRelay, type SeverableRelay } from '../src/hub/severable-relay.js';
import { type SimulatedFleet, startFleet } from '../src/devices/simulated-fleet.js';
import { PATIENCE } from '../src/patience.js';

const registered = 5_000;
const online = 12;

describe.skipIf(!isChromiumInstalled())('the web console over 5,000 devices', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let browser: Browser;
  let relay: SeverableRelay;
  let console: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startHub(), openBrowser()]);
    relay = await openRelay({ host: '127.0.0.1', port: hub.httpPort });
    await registerRooms(hub, registered);
    fleet = startFleet(hub, { devices: online });
    console = await openConsole(browser, hub, { url: `http://127.0.0.1:${relay.port}` });
    page = console.page;
  });

  afterAll(() => endConsoleStory({ hub, browser, fleets: [fleet, { stop: () => relay.cut() }], consoles: [console] }));

  it('shows on Overview what is online, without a reload', async () => {
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: new RegExp(`^Online ${online} `) }).waitFor();
    await page
      .getByRole('img', { name: `Devices online over time; now ${online}` })
      .waitFor({ timeout: 40_000 * PATIENCE });
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('finds devices as one types, draws only those in sight, and keeps the filter in the address', async () => {
    await console.visit('/devices');
    await page.getByText(`${(registered + online).toLocaleString('en-GB')} devices, ${online} online`).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(80);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Search id or name' }).pressSequentially('room 0421');
    await page.getByText('1 device, 0 online').waitFor();
    await page.getByRole('link', { name: 'Room 0421' }).waitFor();
    expect(new URL(page.url()).searchParams.get('search')).toBe('room 0421');
  });

  it('adds a condition as a chip, and an address shares the view', async () => {
    await page.getByRole('searchbox', { name: 'Search id or name' }).fill('');
    await page.getByText(`${(registered + online).toLocaleString('en-GB')} devices, ${online} online`).waitFor();
    await addCondition(page, 'Tag');
    await page.getByRole('textbox', { name: 'Value' }).fill('suite');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('100 devices, 0 online').waitFor();
    const other = await openConsole(browser, hub);
    await other.visit(new URL(page.url()).pathname + new URL(page.url()).search);
    await other.page.getByText('100 devices, 0 online').waitFor();
    await other.page.getByText('Tag: suite').waitFor();
    await other.close();
  });

  it('takes away what matches, keeps that as a group, and changes the group', async () => {
    await addCondition(page, 'Id or name contains');
    await page.getByRole('combobox', { name: 'Condition type' }).click();
    await page.getByRole('option', { name: 'Must not hold' }).click();
    await page.getByRole('textbox', { name: 'Value' }).fill('room 00');
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('98 devices, 0 online').waitFor();
    await page.getByText('not Id or name contains: room 00').waitFor();
    const groups = page.getByRole('button', { name: 'Groups' });
    await groups.click();
    await page.getByRole('button', { name: 'Save this filter as a group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Upper suites');
    await dialog.getByText('not Id or name contains: room 00', { exact: false }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Group Upper suites is saved.').waitFor();
    await page.getByRole('button', { name: 'Clear all' }).click();
    await groups.click();
    await page.getByRole('button', { name: 'Edit group Upper suites' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Best suites');
    await dialog.getByRole('textbox', { name: 'Voice servers of its devices' }).fill('nowhere');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('Nothing was changed.', { exact: false }).waitFor();
    await dialog.getByRole('textbox', { name: 'Voice servers of its devices' }).fill('');
    const zone = dialog.getByRole('combobox', { name: 'Time zone of its devices' });
    await zone.fill('Mars/Olympus');
    await page.getByText('No time zone with this name').waitFor();
    await zone.fill('Europe/Berlin');
    await page.getByRole('option', { name: 'Europe/Berlin' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement?.textContent === "Groups"')).toBe(true);
    await groups.click();
    await page.getByRole('button', { name: 'Best suites', exact: true }).click();
    await page.getByText('98 devices, 0 online').waitFor();
    await page.getByText('Group: Best suites').waitFor();
    expect(await groupsOf(hub)).toEqual([
      {
        id: expect.any(String),
        name: 'Best suites',
        timeZone: 'Europe/Berlin',
        filter: { tags: ['suite'], not: { any: [{ search: 'room 00' }] } },
      },
    ]);
  });

  it('does not save a group over what another person saved while the form was open', async () => {
    const [group] = await groupsOf(hub);
    await editGroup(page, 'Best suites');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Worst suites');
    await updateGroup(hub, group?.id, { name: 'Best suites', filter: group?.filter, timeZone: 'Asia/Tokyo' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('The device group was changed meanwhile.').waitFor();
    // The form shows the group as it was read when it opened.
    const zoneShown = async () => {
      await dialog.getByRole('button', { name: 'Close without saving' }).click();
      await editGroup(page, 'Best suites');
      return dialog.getByRole('combobox', { name: 'Time zone of its devices' }).inputValue();
    };
    await expect.poll(zoneShown).toBe('Asia/Tokyo');
    await dialog.getByRole('button', { name: 'Close without saving' }).click();
  });

  it('takes a condition by keyboard alone, and gives the focus back where it was', async () => {
    await console.visit('/devices');
    const filter = page.getByRole('button', { name: 'Filter' });
    await filter.press('Enter');
    const condition = page.getByRole('combobox', { name: 'Condition', exact: true });
    await condition.focus();
    await condition.press('Enter');
    await condition.press('ArrowDown');
    await condition.press('Enter');
    const value = page.getByRole('combobox', { name: 'Value' });
    await value.fill('no such board');
    // With no suggestion open, Escape would close the whole form.
    await value.press('Tab');
    await page.getByRole('button', { name: 'Add', exact: true }).press('Enter');
    await page.getByText('Model: no such board').waitFor();
    await page.getByText('No matching devices').waitFor();
    expect(await page.getByRole('link', { name: 'New job for 0 devices' }).getAttribute('href')).toBeNull();
    await expect.poll(() => page.evaluate('document.activeElement?.textContent === "Filter"')).toBe(true);
    await page.getByRole('button', { name: 'Remove Model: no such board' }).press('Enter');
    await page.getByRole('row').nth(1).waitFor();
    const columns = page.getByRole('button', { name: 'Columns' });
    await columns.press('Enter');
    await page.getByRole('checkbox', { name: 'Id', exact: true }).press('Space');
    await page.getByRole('columnheader', { name: 'Id', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate('document.activeElement?.textContent === "Columns"')).toBe(true);
    await page
      .getByRole('checkbox', { name: /^Select Room/ })
      .first()
      .press('Space');
    await page.getByRole('button', { name: 'Tag 1 device', exact: true }).waitFor();
  });

  it('asks for further pages as one goes down, by keyboard too', async () => {
    await console.visit('/devices?search=room');
    await page.getByRole('link', { name: 'Room 0000' }).waitFor();
    const frame = page.getByRole('region', { name: 'Devices' });
    const later = page.getByRole('link', { name: /^Room 0[2-9]\d\d$/ });
    await eventually(
      async () => {
        await frame.press('End');
        return later.count();
      },
      (count) => count > 0,
    );
  });

  it('changes the tags of all that match', async () => {
    await console.visit('/devices?tags=%5B%22suite%22%5D');
    await page.getByRole('button', { name: 'Tag 100 devices' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Add tags').fill('minibar');
    await dialog.getByLabel('Add tags').press('Enter');
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Tag 100 devices' }).click();
    await page.getByText('100 devices changed.').waitFor();
    const count = '{ devices(filter: { tags: ["minibar"] }, first: 1) { totalCount } }';
    expect((await ask<{ devices: { totalCount: number } }>(hub, count)).devices.totalCount).toBe(100);
  });

  it('shows devices that come and leave at their place, and counts them', async () => {
    const room = { deviceId: '02:0b:00:00:00:01' };
    await console.visit('/devices?tags=%5B%22suite%22%5D');
    await page.getByText('100 devices, 0 online').waitFor();
    await registerDevice(hub, { ...room, name: 'Room 51', tags: ['suite'] });
    await page.getByText('101 devices, 0 online').waitFor();
    // Between Room 0050 and Room 0100, as numbers.
    expect(await page.getByRole('row').nth(3).innerText()).toContain('Room 51');
    await updateDevice(hub, { ...room, name: 'Room 1' });
    await expect.poll(() => page.getByRole('row').nth(2).innerText()).toContain('Room 1');
    await updateDevice(hub, { ...room, tags: ['room'] });
    await page.getByRole('link', { name: 'Room 1', exact: true }).waitFor({ state: 'detached' });
    await page.getByText('100 devices, 0 online').waitFor();
  });

  it('shows at once that a button can be used, to those who want no motion', async () => {
    await console.visit('/devices');
    await page.getByRole('button', { name: /^Tag 5/ }).waitFor();
    expect(await buttonColours(page)).toEqual([false, true]);
  });

  it('says that the connection is lost, and heals by itself with what was missed', async () => {
    await console.visit('/devices?presence=ONLINE');
    await page.getByText(`${online} devices, ${online} online`).waitFor();
    await relay.cut();
    await page.getByText('The live connection to the hub is lost.', { exact: false }).waitFor();
    await fleet.stop();
    await devicesOnline(hub, 0);
    await relay.restore();
    await page.getByText('No matching devices').waitFor();
    await page.getByText('The live connection to the hub is lost.', { exact: false }).waitFor({ state: 'hidden' });
  });

  it('lets a dialog be closed whose answer cannot come any more', async () => {
    await console.visit('/webhooks');
    await holdAnswer(page, /mutation CreateWebhook/);
    await page.getByRole('button', { name: 'Add webhook' }).first().click();
    const dialog = page.getByRole('dialog');
    const close = dialog.getByRole('button', { name: 'Close without saving' });
    await dialog.getByRole('textbox', { name: 'Address' }).fill('https://hooks.example.com/lost');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => close.isDisabled()).toBe(true);
    await relay.cut();
    await close.click();
    await dialog.waitFor({ state: 'detached' });
    await relay.restore();
  });

  it('offers a reload when the hub has a newer console or a page is gone', async () => {
    const {
      page: viewer,
      complaints,
      visit,
      close,
    } = await openConsole(browser, hub, { url: `http://127.0.0.1:${relay.port}` });
    await visit('/events');
    await serveNewerConsole(viewer);
    await relay.cut();
    await viewer.getByText('The live connection to the hub is lost.', { exact: false }).waitFor();
    await relay.restore();
    await viewer.getByText('The hub was updated and has a newer console.', { exact: false }).waitFor();
    expect(await seriousViolations(viewer)).toEqual([]);
    await viewer.getByRole('link', { name: 'Audit' }).click();
    await viewer.getByRole('heading', { level: 1, name: 'This page could not be loaded' }).waitFor();
    await viewer.unrouteAll();
    await viewer.getByRole('main').getByRole('button', { name: 'Reload' }).click();
    await viewer.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('shows a key only what its scopes allow, and leads back after a session has ended', async () => {
    const key = await makeKey(hub, ['DEVICES_READ']);
    const reader = await openConsole(browser, hub, { key: key.secret });
    await reader.visit('/devices?tags=%5B%22suite%22%5D');
    await reader.page.getByText('100 devices, 0 online').waitFor();
    expect(await reader.page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    expect(await reader.page.getByRole('button', { name: /^Tag / }).count()).toBe(0);
    await revokeKey(hub, key.id);
    await reader.page.getByRole('heading', { name: 'Your session has ended' }).waitFor({ timeout: 30_000 * PATIENCE });
    await signInByKey(reader.page, hub.adminKey);
    await reader.page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
    expect(new URL(reader.page.url()).searchParams.get('tags')).toBe('["suite"]');
    await reader.page.goto('/audit');
    await reader.page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    expect(reader.complaints).toEqual([]);
    await reader.close();
  });
});
