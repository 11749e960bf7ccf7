/**
 * Microcontrollers and xiaozhi devices in one fleet: a board is registered with its address,
 * dialled, called, lost and found again.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, eventsOf, isOnline } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online, targetsOf } from '../src/jobs/job-api.js';
import { registerBoards, startBoards, type SimulatedBoards } from '../src/devices/simulated-boards.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const isLong = Boolean(process.env['FLOTILLA_TEST_LONG']);
/** Working boards, and faulty ones among them. */
const crowd = isLong ? { boards: 1_000, faulty: 100 } : { boards: 100, faulty: 12 };

const hasSocat = spawnSync('socat', ['-V']).status === 0;
if (!hasSocat) {
  if (process.env['FLOTILLA_TEST_REQUIRE'] === 'all')
    throw new Error('FLOTILLA_TEST_REQUIRE=all, and socat is not installed.');
  process.stderr.write('The story of a serial device is skipped: socat is not installed.\n');
}

const ids = { esp32: 'greenhouse-1', avr: 'bench-1', generic: 'pump-1' } as const;

describe('microcontrollers', () => {
  let hub: HubProcess;
  let boards: SimulatedBoards;
  let fleet: SimulatedFleet;
  const processes: ChildProcess[] = [];

  const viewOf = async (profile: keyof typeof ids) => {
    const view = (await boards.views()).find((board) => board.profile === profile);
    if (view === undefined) throw new Error(`There is no ${profile}.`);
    return view;
  };
  const call = (deviceId: string, tool: string, args: Readonly<Record<string, unknown>> = {}) =>
    callTool(hub, { deviceId, tool, arguments: args });

  beforeAll(async () => {
    hub = await startHub();
    boards = await startBoards({ boards: 3 });
    fleet = startFleet(hub, { devices: 3, profile: 'lamp' });
    const views = await boards.views();
    await registerBoards(
      hub,
      views.map(({ profile, address }) => ({ deviceId: ids[profile], address })),
    );
    await online(hub, 6);
  });

  afterAll(async () => {
    for (const child of processes) child.kill();
    await fleet.stop();
    await boards.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  it('show their tools and pins, and which parameters are unknown', async () => {
    const { device } = await ask<{ device: Record<string, unknown> }>(
      hub,
      `query ($id: ID!) { device(id: $id) {
        dialect transport model firmwareVersion pins { pin name type } tools { name schemaKnown }
      } }`,
      { id: ids.esp32 },
    );
    expect(device).toMatchObject({ dialect: 'MCPU', transport: 'TCP', model: 'greenhouse', firmwareVersion: '2.3.1' });
    expect(device['pins']).toContainEqual({ pin: 36, name: 'soil', type: 'adc_input' });
    expect(device['tools']).toContainEqual({ name: 'gpio_write', schemaKnown: true });
    expect(device['tools']).toContainEqual({ name: 'water_bed', schemaKnown: false });
  });

  it('allow safe calls of an AVR without schemas', async () => {
    const { tools } = await deviceThat(hub, ids.avr, isOnline);
    expect(tools).toContainEqual({ name: 'gpio_write', schemaKnown: true, userOnly: false });
    expect(await call(ids.avr, 'gpio_write', { pin: 13, value: 'on' })).toMatchObject({
      error: { code: 'ARGUMENTS_INVALID' },
    });
    expect(await call(ids.avr, 'gpio_write', { pin: 13, value: true })).toMatchObject({ outcome: 'SUCCEEDED' });
    expect((await viewOf('avr')).outputs).toEqual({ lamp: true });
  });

  it('switch a lamp on and read it back', async () => {
    expect(await call(ids.esp32, 'gpio_write', { pin: 2, value: true })).toMatchObject({ outcome: 'SUCCEEDED' });
    const read = await call(ids.esp32, 'gpio_read', { pin: 2 });
    expect(JSON.parse(read.result?.text ?? '')).toEqual({ pin: 2, name: 'lamp', value: true });
  });

  it('answer after output of the sketch, and return null for a tool without a result', async () => {
    expect((await call(ids.esp32, 'measure_soil')).result?.text).toContain('moisture');
    expect((await call(ids.generic, 'run_pump', { seconds: 0.1 })).result?.text).toBe('{"pumped_s":0.1}');
    expect((await call(ids.avr, 'buzz', { ms: 20 })).result?.text).toBe('null');
  });

  it.each([
    ['a pin that does not exist', 'gpio_write', { pin: 258, value: true }, 'ARGUMENTS_INVALID'],
    ['a pin of another type', 'gpio_write', { pin: 17, value: true }, 'ARGUMENTS_INVALID'],
    ['a duty out of range', 'pwm_write', { pin: 18, duty: 256 }, 'ARGUMENTS_INVALID'],
    ['more than the board can read', 'water_bed', { seconds: 1, note: 'x'.repeat(600) }, 'REQUEST_TOO_LARGE'],
  ])('never receive %s', async (_what, tool, args, code) => {
    const before = (await viewOf('esp32')).tools[tool];
    expect((await call(ids.esp32, tool, args)).error?.code).toBe(code);
    expect((await viewOf('esp32')).tools[tool]).toBe(before);
  });

  it('are called in one job with other devices, each with its outcome', async () => {
    const id = await jobOf(hub, { tool: 'gpio_read', arguments: { pin: 2 }, devices: { all: true } }, 'read-2');
    expect(await finished(hub, id)).toMatchObject({
      conclusion: 'PARTIAL',
      progress: { total: 6, succeeded: 1, rejected: 5 },
    });
    const codes = new Map((await targetsOf(hub, id)).map(({ deviceId, error }) => [deviceId, error?.code]));
    expect(codes.get(ids.esp32)).toBeUndefined();
    expect(codes.get(ids.avr)).toBe('ARGUMENTS_INVALID');
    expect([...codes.values()].filter((code) => code === 'TOOL_UNKNOWN')).toHaveLength(3);
  });

  it('are dialled again after a lost connection, and the reset of their outputs is an event', async () => {
    const { address, connections } = await viewOf('esp32');
    await call(ids.esp32, 'gpio_write', { pin: 2, value: true });
    boards.reset(address);
    await eventually(
      () => eventsOf(hub, ids.esp32, 'device.outputs_reset'),
      (events) => events.length === 1,
    );
    await deviceThat(hub, ids.esp32, isOnline);
    expect(await viewOf('esp32')).toMatchObject({ connections: connections + 1, outputs: { lamp: false } });
  });

  it('do not affect each other: silent, garbled, flooding and closing ones delay none', async () => {
    const many = await startBoards(crowd);
    const views = await many.views();
    await registerBoards(
      hub,
      views
        .map(({ address, fault }, at) => ({
          deviceId: `crowd-${at}`,
          address,
          tags: [fault === 'none' ? 'good' : 'bad'],
        }))
        .slice(0, 1_000),
    );
    if (views.length > 1_000) {
      await registerBoards(
        hub,
        views.map(({ address }, at) => ({ deviceId: `crowd-${at}`, address, tags: ['bad'] })).slice(1_000),
      );
    }
    await online(hub, 6 + crowd.boards, 120_000);
    const id = await jobOf(hub, { tool: 'get_info', devices: { tags: ['good'] } }, 'ask-the-crowd');
    expect((await finished(hub, id)).progress).toMatchObject({ total: crowd.boards, succeeded: crowd.boards });
    expect((await many.views()).filter(({ fault, connections }) => fault === 'none' && connections !== 1)).toEqual([]);
    await many.stop();
  });

  it.runIf(hasSocat)(
    'are reached behind a serial line through a TCP serial server',
    async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-serial-'));
      const tty = path.join(folder, 'ttyUSB0');
      const wired = await startBoards({ boards: 1 });
      const [board] = await wired.views();
      const port = await freePort();
      processes.push(spawn('socat', [`PTY,link=${tty},raw,echo=0`, `TCP:${board?.address ?? ''}`]));
      await eventually(
        () => Promise.resolve(existsSync(tty)),
        (isThere) => isThere,
      );
      processes.push(
        spawn('socat', [`TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr,fork,max-children=1`, `OPEN:${tty},raw,echo=0`]),
      );
      await registerBoards(hub, [{ deviceId: 'wired-1', address: `127.0.0.1:${port}` }]);
      await deviceThat(hub, 'wired-1', isOnline, 30_000);
      expect(await call('wired-1', 'gpio_write', { pin: 2, value: true })).toMatchObject({ outcome: 'SUCCEEDED' });
      expect((await wired.views())[0]?.outputs).toMatchObject({ lamp: true });
      for (const child of processes.splice(0)) child.kill();
      await wired.stop();
      rmSync(folder, { recursive: true });
    },
    60_000,
  );

  it('are polled for their samples, each of which is an event', async () => {
    const events = await eventually(
      () => eventsOf(hub, ids.esp32, 'device.samples'),
      (found) => found.length > 0,
    );
    expect(events[0]).toMatchObject({ tool: 'leaf_wetness', resource: 'wetness', intervalMs: 500 });
    const rings = await eventually(
      () => eventsOf(hub, ids.generic, 'device.samples'),
      (found) => found.some(({ pin }) => pin === 26),
    );
    expect(rings.find(({ pin }) => pin === 26)).toMatchObject({ name: 'level', intervalMs: 500 });
  });

  it('are dialled again by a hub that restarts', async () => {
    const { dataDir } = hub;
    const before = (await viewOf('esp32')).connections;
    await hub.stop();
    hub = await startHub({ dataDir });
    await deviceThat(hub, ids.esp32, isOnline);
    expect((await viewOf('esp32')).connections).toBe(before + 1);
    expect(await call(ids.esp32, 'adc_read', { pin: 36 })).toMatchObject({ outcome: 'SUCCEEDED' });
  });
});

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
