/**
 * Boards that asked another server before: they go there through the hub, move here, and go back,
 * and none of them loses a credential that it needs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { flotilla, jsonLines } from '../src/api/command-line.js';
import { ask } from '../src/api/graphql-client.js';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { someUuid } from '../src/devices/device-credentials.js';
import { FormerServerStandIn } from '../src/devices/former-server.js';
import { askOta } from '../src/devices/ota-client.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { openTestDatabase, tablesWith, type TestDatabase } from '../src/hub/test-database.js';
import { startVoiceServer, type VoiceServerProcess } from '../src/voice/voice-server.js';

interface Board {
  readonly deviceId: string;
  readonly state: string;
  readonly isHere: boolean;
  readonly boundThere: boolean | null;
  readonly formerAgent: string | null;
  readonly attemptedAt: string | null;
}

/** `server.secret` of the former server. */
const SIGNING_KEY = 'secret of the former server';
const boardOfSeed = (seed: number): string => `02:00:${seed.toString(16).padStart(2, '0')}:00:00:00`;

describe('moving in from another server', () => {
  const former = new FormerServerStandIn();
  const fleets: SimulatedFleet[] = [];
  let agent: VoiceServerProcess;
  let database: TestDatabase;
  let hub: HubProcess;

  beforeAll(async () => {
    await former.listen();
    agent = await startVoiceServer(['--signing-key', SIGNING_KEY]);
    database = await openTestDatabase({ migrated: true });
    hub = await startHub({
      env: {
        DATABASE_URL: database.url,
        FLOTILLA_ADMIN_KEY: 'admin-key-of-the-story-0123456789',
        FLOTILLA_DEVICE_AUTH: '',
        FLOTILLA_OTA_UPSTREAM: former.otaUrl,
        FLOTILLA_VOICE_URL: agent.url,
        FLOTILLA_VOICE_SIGNING_KEY: SIGNING_KEY,
      },
    });
  });
  beforeEach(() => {
    former.mood = 'usual';
    former.bound = undefined;
  });
  afterEach(async () => {
    for (const fleet of fleets.splice(0)) {
      expect(fleet.notices.filter(({ event }) => event === 'crash')).toEqual([]);
      await fleet.stop();
    }
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    expect(former.secrets.length).toBeGreaterThan(3);
    for (const secret of former.secrets) expect(hub.log()).not.toContain(secret);
    expect(await tablesWith(database.url, [boardOfSeed(61)])).toContain('device');
    expect(await tablesWith(database.url, former.secrets)).toEqual([]);
    await database.close();
    await agent.stop();
    former.close();
    removeDataDir(hub.dataDir);
  });

  function start(seed: number, devices = 1): SimulatedFleet {
    const ota = `${hub.httpUrl}/ota/`;
    const fleet = startFleet(hub, { devices, profile: 'lamp', seed, ota, args: ['--speed', '30'] });
    fleets.push(fleet);
    return fleet;
  }

  async function boardOf(mac: string): Promise<Board | undefined> {
    const query = '{ movingBoards(first: 200) { nodes { deviceId state isHere boundThere formerAgent attemptedAt } } }';
    const { movingBoards } = await ask<{ movingBoards: { nodes: readonly Board[] } }>(hub, query);
    return movingBoards.nodes.find(({ deviceId }) => deviceId === mac);
  }

  const boardThat = (mac: string, isRight: (board: Board) => boolean): Promise<unknown> =>
    eventually(
      () => boardOf(mac),
      (board) => board !== undefined && isRight(board),
    );

  async function change(mutation: 'moveBoards' | 'moveBoardsBack', ...deviceIds: readonly string[]): Promise<void> {
    const query = `mutation ($ids: [ID!]!) { ${mutation}(deviceIds: $ids) { userErrors { message } } }`;
    const data = await ask<Record<string, { userErrors: readonly unknown[] }>>(hub, query, { ids: deviceIds });
    expect(data[mutation]?.userErrors).toEqual([]);
  }

  const restart = (fleet: SimulatedFleet, device: string): Promise<void> =>
    fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'reboot' } });
  const turnOn = (deviceId: string) => callTool(hub, { deviceId, tool: 'self.lamp.turn_on' });

  it('takes a board here with a call, back when the former server answers, and here again', async () => {
    const id = boardOfSeed(61);
    const fleet = start(61);
    await boardThat(id, ({ boundThere, state }) => state === 'NOT_MOVED' && boundThere === true);
    expect(await viewDevice(hub, id)).toBeNull();
    await change('moveBoards', id);
    await restart(fleet, id);
    await deviceThat(hub, id, isOnline);
    expect(await turnOn(id)).toMatchObject({ outcome: 'SUCCEEDED' });
    await change('moveBoardsBack', id);
    // Until it starts again, it goes on here.
    expect(await turnOn(id)).toMatchObject({ outcome: 'SUCCEEDED' });
    const before = former.of(id).length;
    former.mood = 'down';
    await restart(fleet, id);
    await eventually(
      () => former.of(id).length,
      (count) => count >= before + 2,
    );
    expect(await boardOf(id)).toMatchObject({ isHere: true });
    former.mood = 'usual';
    await boardThat(id, ({ isHere }) => !isHere);
    await deviceThat(hub, id, (device) => !isOnline(device));
    await change('moveBoards', id);
    await restart(fleet, id);
    await deviceThat(hub, id, isOnline);
    expect(await turnOn(id)).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(fleet.codesOf(id)).toEqual([]);
  });

  it('lets a moved board talk to its former agent, which checks the signature of the hub', async () => {
    const id = boardOfSeed(64);
    const fleet = start(64);
    await boardThat(id, ({ boundThere }) => boundThere === true);
    await change('moveBoards', id);
    await restart(fleet, id);
    await deviceThat(hub, id, isOnline);
    await fleet.perform({ cmd: 'behaviour', device: id, behaviour: { kind: 'talk', packets: 10 } });
    await eventually(
      () => fleet.sound(id),
      ({ heard }) => heard === 10,
    );
    await fleet.perform({ cmd: 'behaviour', device: id, behaviour: { kind: 'hangUp' } });
    const [conversation] = await eventually(
      () => agent.ended,
      ({ length }) => length > 0,
    );
    expect(conversation).toMatchObject({ device: id, heard: 10, said: 10 });
  });

  it('leaves the codes of boards that are bound nowhere to the former server', async () => {
    former.bound = new Set();
    const id = boardOfSeed(62);
    const fleet = start(62);
    const code = await fleet.codeOf(id);
    expect(former.secrets).toContain(code);
    await eventually(
      () => former.of(id).filter(({ url }) => url?.endsWith('/activate') === true).length,
      (count) => count > 0,
    );
    expect(await boardOf(id)).toMatchObject({ state: 'NOT_MOVED', boundThere: false });
    former.bound = new Set([id]);
    await boardThat(id, ({ boundThere }) => boundThere === true);
  });

  it('passes on the bytes and the letter case of a board, and answers 502 for a server without an answer', async () => {
    const mac = '02:00:0A:BC:DE:F0';
    const reply = await askOta(hub, { mac, uuid: someUuid });
    expect(reply.body).toMatchObject({ websocket: { url: 'ws://former.example:8000/xiaozhi/v1/' } });
    const [seen] = former.of(mac.toLowerCase());
    expect(seen?.rawHeaders).toEqual(expect.arrayContaining(['Device-Id', mac, 'X-Real-IP', '127.0.0.1']));
    expect(seen?.url).toBe('/xiaozhi/ota/');
    expect(JSON.parse(seen?.body.toString() ?? '')).toMatchObject({ mac_address: mac, uuid: someUuid });
    former.mood = 'down';
    expect(await askOta(hub, { mac, uuid: someUuid })).toMatchObject({ status: 502, body: { code: 'UNAVAILABLE' } });
    former.mood = 'broken';
    expect(await askOta(hub, { mac, uuid: someUuid })).toMatchObject({ status: 200, body: { code: 500 } });
    expect(await boardOf(mac.toLowerCase())).toMatchObject({ state: 'NOT_MOVED', boundThere: null });
  });

  it('refuses the credential of a board that went back, and shows the attempt', async () => {
    const mac = '02:00:0a:bc:de:f1';
    await askOta(hub, { mac, uuid: someUuid });
    await change('moveBoards', mac);
    const { mqtt = {} } = (await askOta(hub, { mac, uuid: someUuid })).body;
    await change('moveBoardsBack', mac);
    former.mood = 'broken';
    await askOta(hub, { mac, uuid: someUuid });
    const login = {
      clientId: String(mqtt['client_id']),
      username: String(mqtt['username']),
      password: Buffer.from(String(mqtt['password'])),
    };
    expect(await answered(login)).toBe(0);
    former.mood = 'usual';
    await askOta(hub, { mac, uuid: someUuid });
    await eventually(
      () => answered(login),
      (code) => code !== 0,
    );
    await boardThat(mac, ({ attemptedAt }) => attemptedAt !== null);
    const [refused] = await eventually(
      () => eventsOf(hub, mac, 'device.auth_refused'),
      ({ length }) => length > 0,
    );
    expect(JSON.stringify(refused)).toContain('moved back to its former server');
  });

  it('registers the boards of a dump, which then move without a code', async () => {
    const id = boardOfSeed(63);
    const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-dump-'));
    const dump = path.join(folder, 'dump.sql');
    writeFileSync(
      dump,
      `INSERT INTO \`ai_device\` (\`id\`,\`mac_address\`,\`user_id\`,\`agent_id\`,\`alias\`) VALUES
('${id.toUpperCase()}','${id.toUpperCase()}',7,'a1','Hall \\'east\\''),('x','not-a-mac',7,'a1',NULL);
INSERT INTO \`ai_agent\` (\`id\`,\`agent_name\`) VALUES ('a1','Guide');
INSERT INTO \`sys_user\` (\`id\`,\`username\`,\`password\`,\`status\`) VALUES (7,'anna','$2a$10$secret',0);`,
    );
    const voice = ['--voice-url', 'ws://127.0.0.1:9/xiaozhi/v1/'];
    const check = await flotilla(hub, ['import', 'xiaozhi-server', dump, ...voice, '--dry-run']);
    expect(check).toMatchObject({ code: 0 });
    expect(check.stderr).toContain('1 of 1 boards would be registered');
    expect(await boardOf(id)).toBeUndefined();
    const done = await flotilla(hub, ['import', 'xiaozhi-server', dump, ...voice]);
    const tags = ['xiaozhi-server', 'agent:Guide', 'user:anna'];
    expect(jsonLines(done)).toMatchObject([{ deviceId: id, tags, isNew: true }]);
    expect(done.stderr).toMatch(/not-a-mac: This is not a MAC address[\s\S]*Its user is disabled there/);
    expect(done.stdout + done.stderr).not.toContain('secret');
    expect(await boardOf(id)).toMatchObject({ state: 'UNKNOWN', formerAgent: 'Guide' });
    const again = await flotilla(hub, ['import', 'xiaozhi-server', dump, '--voice-url', 'ws://127.0.0.1:8/']);
    expect(again).toMatchObject({ code: 0 });
    const { deviceGroups } = await ask<object & { deviceGroups: unknown }>(
      hub,
      '{ deviceGroups { nodes { name voiceUrl deviceCount } } }',
    );
    expect(deviceGroups).toEqual({
      nodes: [{ name: 'xiaozhi-server', voiceUrl: 'ws://127.0.0.1:8/', deviceCount: 1 }],
    });
    expect(again.stderr).toContain('0 of 1 boards registered; 1 not');
    rmSync(folder, { recursive: true });
    expect(await flotilla(hub, ['moving', 'move', id])).toMatchObject({ code: 0 });
    start(63);
    await deviceThat(hub, id, isOnline);
    const { device } = await ask<{ device: unknown }>(hub, `{ device(id: "${id}") { name tags } }`);
    expect(device).toEqual({ name: "Hall 'east'", tags: expect.arrayContaining(tags) });
    expect(former.of(id)).toEqual([]);
  });

  /** The code of CONNACK: 0 admits the device. */
  async function answered(login: {
    readonly clientId: string;
    readonly username: string;
    readonly password: Buffer;
  }): Promise<number | undefined> {
    const device = await RawMqttDevice.dial(hub);
    device.hello(login);
    const code = await device.connack();
    device.drop();
    return code;
  }
});
