/**
 * Who may choose a voice server, what each kind of server gets, and the records of failed
 * conversations. The servers check signed tokens like xiaozhi-esp32-server.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey, scopes } from '../src/api/api-keys.js';
import { ask, send } from '../src/api/graphql-client.js';
import { deviceThat, eventsOf, isOnline } from '../src/devices/device-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { startVoiceServer, type VoiceServerProcess } from '../src/voice/voice-server.js';

const KEY = 'server-secret-of-the-voice-server';
const PACKETS = 5;
const USER_ONLY = 'self.get_system_info';
const [bound, unbound, tapped, moved] = [0, 1, 2, 3].map((index) => `02:00:01:00:00:0${index}`) as [
  string,
  string,
  string,
  string,
];

let hub: HubProcess;
let fleet: SimulatedFleet;
/** The fleet's server; listed ones with its key and with another; and one that is not listed. */
let own: VoiceServerProcess;
let listed: VoiceServerProcess;
let foreign: VoiceServerProcess;
let unlisted: VoiceServerProcess;

const originOf = ({ url }: VoiceServerProcess) => new URL(url).origin;
const hostOf = ({ url }: VoiceServerProcess) => new URL(url).host;
const talk = (device: string) =>
  fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'talk', packets: PACKETS } });
const hangUp = (device: string) => fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'hangUp' } });

interface Changed {
  readonly updateDevice: {
    readonly userErrors: readonly { readonly code: string; readonly message: string; readonly path: string[] }[];
  };
}

const changeVoice =
  'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { code message path } } }';
const setVoice = async (deviceId: string, voiceUrl: string | null, key?: string) => {
  const { data, errors } = await send(hub, changeVoice, { input: { deviceId, voiceUrl } }, key);
  return { errors, userErrors: (data as Changed | null)?.updateDevice?.userErrors };
};

const conversationsOf = (device: string, count = 1) =>
  eventually(
    () => eventsOf(hub, device, 'device.conversation'),
    (found) => found.length >= count,
    15_000,
  );

/** A conversation of the server with the device, after an utterance and its answer. */
async function conversed(server: VoiceServerProcess, device: string) {
  await talk(device);
  expect(await conversationsOf(device)).toMatchObject([{ state: 'started', backend: hostOf(server) }]);
  await eventually(
    () => fleet.sound(device),
    ({ heard }) => heard >= PACKETS,
    10_000,
  );
  await hangUp(device);
  const [conversation] = await eventually(
    () => Promise.resolve(server.ended),
    (ended) => ended.length > 0,
    10_000,
  );
  return conversation;
}

describe('voice servers', () => {
  beforeAll(async () => {
    [own, listed, foreign, unlisted] = await Promise.all([
      startVoiceServer(['--signing-key', KEY, '--tool', USER_ONLY, '--not-bound', unbound]),
      startVoiceServer(['--signing-key', KEY, '--tool', USER_ONLY]),
      startVoiceServer(['--signing-key', 'another-secret']),
      startVoiceServer(),
    ]);
    const env = {
      FLOTILLA_VOICE_URL: own.url,
      FLOTILLA_VOICE_URLS: `${originOf(listed)}, ${originOf(foreign)}`,
      FLOTILLA_VOICE_SIGNING_KEY: KEY,
      FLOTILLA_VOICE_USER_TOOLS: 'on',
    };
    hub = await startHub({ env });
    fleet = startFleet(hub, { devices: 4, seed: 1 });
    for (const device of [bound, unbound, tapped, moved]) await deviceThat(hub, device, isOnline);
  });
  afterAll(async () => {
    await Promise.all(
      [fleet, own, listed, foreign, unlisted].map((started: { stop(): Promise<unknown> } | undefined) =>
        started?.stop(),
      ),
    );
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toContain(KEY);
    expect(hub.log()).not.toMatch(/unhandled/i);
    removeDataDir(hub.dataDir);
  });

  it('accept a conversation that is signed with their key, and the fleet’s own may call user-only tools', async () => {
    const conversation = await conversed(own, bound);
    expect(conversation?.tools).toContain('self.get_device_status');
    expect(conversation?.answers).toMatchObject([{ isError: false }]);
  });

  it('that prompt an unbound device leave an event with advice', async () => {
    await talk(unbound);
    expect(await conversationsOf(unbound)).toMatchObject([
      {
        state: 'unavailable',
        reason: 'not_bound',
        backend: hostOf(own),
        message: expect.stringContaining('bind it') as unknown,
      },
    ]);
    const { voiceServers } = await eventually(
      () =>
        ask<{ voiceServers: { url: string; state: string; lastErrorCode: string | null }[] }>(
          hub,
          '{ voiceServers { url state lastErrorCode } }',
        ),
      (answer) => answer.voiceServers.some(({ lastErrorCode }) => lastErrorCode !== null),
      10_000,
    );
    expect(voiceServers).toContainEqual({ url: own.url, state: 'WELL', lastErrorCode: 'NOT_BOUND' });
  });

  it('may be chosen by an operator if they are listed; such a server gets no user-only tools', async () => {
    const { secret } = await makeKey(hub, ['DEVICES_READ', 'DEVICES_WRITE']);
    expect(await setVoice(moved, listed.url, secret)).toEqual({ userErrors: [] });
    const conversation = await conversed(listed, moved);
    expect(conversation?.tools).toContain('self.get_device_status');
    expect(conversation?.answers).toMatchObject([{ code: -32_602, message: `Unknown tool: ${USER_ONLY}` }]);
    const { auditEntries } = await ask<{
      auditEntries: { nodes: { subject: string; data: { voiceUrls?: string[] } }[] };
    }>(hub, '{ auditEntries(filter: { action: "device.updated" }) { nodes { subject data } } }');
    expect(auditEntries.nodes).toContainEqual({ subject: `device:${moved}`, data: { voiceUrls: [listed.url] } });
  });

  it('with another key reject the conversation, which is an event', async () => {
    expect(await setVoice(moved, foreign.url)).toEqual({ userErrors: [] });
    await talk(moved);
    expect((await conversationsOf(moved, 3)).at(-1)).toMatchObject({
      state: 'unavailable',
      reason: 'auth_failed',
      backend: hostOf(foreign),
      message: expect.stringContaining('FLOTILLA_VOICE_SIGNING_KEY') as unknown,
    });
  });

  it('that are not listed need ADMIN, and never get a connection in a private network', async () => {
    const { secret } = await makeKey(hub, ['DEVICES_READ', 'DEVICES_WRITE']);
    const refused = {
      code: 'URL_FORBIDDEN',
      path: ['input', 'voiceUrl'],
      message: expect.stringContaining('needs the scope ADMIN') as unknown,
    };
    for (const url of [unlisted.url, `${own.url},${unlisted.url}`])
      expect(await setVoice(tapped, url, secret)).toMatchObject({ userErrors: [refused] });
    const group = { name: 'taps', filter: { ids: [tapped] }, voiceUrl: unlisted.url };
    const create = `mutation ($input: DeviceGroupInput!) {
        createDeviceGroup(input: $input) { deviceGroup { id } userErrors { code path } }
      }`;
    expect((await send(hub, create, { input: group }, secret)).data).toMatchObject({
      createDeviceGroup: { deviceGroup: null, userErrors: [{ code: 'URL_FORBIDDEN', path: ['input', 'voiceUrl'] }] },
    });

    for (const [index, host] of ['localhost', '127.0.0.1'].entries()) {
      expect(await setVoice(tapped, unlisted.url.replace('127.0.0.1', host))).toEqual({ userErrors: [] });
      await talk(tapped);
      expect((await conversationsOf(tapped, index + 1)).at(-1)).toMatchObject({
        state: 'unavailable',
        reason: 'address_forbidden',
        message: expect.stringContaining(
          `Add ws://${host}:${new URL(unlisted.url).port} to FLOTILLA_VOICE_URLS`,
        ) as unknown,
      });
      await hangUp(tapped);
    }
    // A form may submit an administrator's value unchanged, and an operator may clear it.
    expect(await setVoice(tapped, unlisted.url, secret)).toEqual({ userErrors: [] });
    expect(await setVoice(tapped, null, secret)).toEqual({ userErrors: [] });
    expect(unlisted.ended).toEqual([]);
  });

  it('may not be chosen or cleared by a scoped key, with any scopes', async () => {
    const { secret } = await makeKey(hub, scopes, { devices: { ids: [moved] } });
    for (const url of [listed.url, null]) {
      const { errors } = await setVoice(moved, url, secret);
      expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(['FORBIDDEN']);
    }
    const { device } = await ask<{ device: { voiceUrl: string } }>(
      hub,
      'query ($id: ID!) { device(id: $id) { voiceUrl } }',
      { id: moved },
    );
    expect(device.voiceUrl).toBe(foreign.url);
  });
});
