/** The bridge to Home Assistant on the built hub, with simulated devices and a real Mosquitto. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeKey, revokeKey, type MadeKey, type Scope } from '../src/api/api-keys.js';
import { ask } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { HomeAssistant } from '../src/hub/home-assistant.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';
import { isMosquittoInstalled, startMosquitto, type Mosquitto } from '../src/hub/mosquitto.js';

const VOLUME = 'number_audio_speaker_volume';
const COMMANDS = 'flotilla_home_assistant_commands_total';

describe.runIf(isMosquittoInstalled())('Home Assistant', () => {
  let broker: Mosquitto;
  let home: HomeAssistant;
  let hub: HubProcess;
  const fleets: SimulatedFleet[] = [];
  const folders: string[] = [];

  beforeAll(async () => {
    broker = await startMosquitto();
    home = await HomeAssistant.connect(broker.url);
  });

  afterEach(async () => {
    await Promise.all(fleets.splice(0).map((fleet) => fleet.stop()));
    await hub.stop();
    for (const folder of folders.splice(0)) removeDataDir(folder);
    await broker.kill();
    await broker.restart();
    home.messages.clear();
  });

  afterAll(async () => {
    await home.stop();
    await broker.stop();
  });

  /** A hub whose bridge has a new key. The key comes from a first start. */
  async function withKey(scopes: readonly Scope[], devices?: Readonly<Record<string, unknown>>): Promise<MadeKey> {
    const first = await startHub({});
    folders.push(first.dataDir);
    const key = await makeKey(first, scopes, devices === undefined ? {} : { devices });
    await first.stop();
    await again(first.dataDir, key);
    return key;
  }

  async function again(dataDir: string, key: MadeKey): Promise<void> {
    const env = {
      FLOTILLA_HOME_ASSISTANT_BROKER: broker.url,
      FLOTILLA_HOME_ASSISTANT_KEY: key.secret,
      FLOTILLA_STATUS_INTERVAL_SECONDS: '10',
    };
    hub = await startHub({ dataDir, env });
  }

  async function devices(count: number, seed = 1): Promise<SimulatedFleet> {
    const fleet = startFleet(hub, { devices: count, seed });
    fleets.push(fleet);
    return fleet;
  }

  const discovered = (count: number) =>
    eventually(
      () => [...home.devices].filter(([id]) => home.isAvailable(id)).map(([id]) => id),
      (ids) => ids.length === count && ids.every((id) => home.devices.get(id)?.components[VOLUME] !== undefined),
      60_000,
    );
  const shows = (id: string, component: string, value: unknown) =>
    eventually(
      () => home.valueOf(id, component),
      (shown) => shown === value,
    );
  const counted = (result: string, count: number) =>
    eventually(
      () => metric(hub, COMMANDS, `result="${result}"`),
      (value) => value === count,
    );
  const untilShownOffline = () =>
    eventually(
      () => home.messages.get('flotilla/status'),
      (status) => status === 'offline',
    );
  const tag = (id: string, tags: readonly string[]) =>
    ask(hub, 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { message } } }', {
      input: { deviceId: id, tags },
    });

  it('shows devices, sets their values and restarts them with the rights of the key', async () => {
    await withKey(['DEVICES_READ', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED']);
    const fleet = await devices(3);
    const ids = await discovered(3);
    const [id = ''] = ids;
    await home.command(id, VOLUME, '31');
    await shows(id, VOLUME, 31);
    expect((await fleet.levels())[id]?.volume).toBe(31);
    await counted('succeeded', 1);
    for (const payload of ['loud', '101', '-1', '30.5', '']) await home.command(id, VOLUME, payload);
    await counted('invalid', 5);
    expect((await fleet.levels())[id]?.volume).toBe(31);
    expect(hub.log()).toContain('a command of Home Assistant did not succeed');
    await home.command(id, 'button_reboot', 'PRESS');
    await eventually(
      async () => (await fleet.counts()).devices[id]?.['self.reboot'] ?? 0,
      (calls) => calls === 1,
    );
    await discovered(3);
  });

  it('shows when devices and the hub are away, and removes devices that leave the filter of the key', async () => {
    const key = await withKey(['DEVICES_READ', 'TOOLS_CALL'], { not: { tags: ['private'] } });
    const staying = await devices(2, 5);
    const leaving = await devices(1, 6);
    const ids = await discovered(3);
    const stayingIds = Object.keys(await staying.levels());
    const leavingId = ids.find((id) => !stayingIds.includes(id)) ?? '';
    await leaving.stop();
    await eventually(
      () => home.isAvailable(leavingId),
      (available) => !available,
    );
    expect(home.valueOf(leavingId, 'binary_sensor_connected')).toBe('offline');
    await tag(leavingId, ['private']);
    await eventually(
      () => [...home.devices.keys()],
      (left) => left.length === 2,
    );
    // The messages of one removal arrive one after the other.
    await eventually(
      () => [...home.messages.keys()].filter((topic) => topic.includes(leavingId.replaceAll(':', ''))),
      (topics) => topics.length === 0,
    );

    const [stayingId = ''] = stayingIds;
    await hub.stop();
    await untilShownOffline();
    await again(hub.dataDir, key);
    await Promise.all(fleets.splice(0).map((fleet) => fleet.stop()));
    await devices(2, 5);
    await discovered(2);
    // Removed while the hub is connected, and by what the broker kept when it was not.
    await hub.stop();
    await home.publish('homeassistant/device/flotilla_020000000099/config', ghost, true);
    await home.publish(
      'homeassistant/device/flotilla_of_another_hub/config',
      ghost.replace('flotilla/', 'other/'),
      true,
    );
    await again(hub.dataDir, key);
    await eventually(
      () => home.devices.has('ghost') && home.messages.has('homeassistant/device/flotilla_020000000099/config'),
      (isThere) => !isThere,
    );
    expect(home.messages.has('homeassistant/device/flotilla_of_another_hub/config')).toBe(true);
    await home.publish('homeassistant/device/flotilla_of_another_hub/config', '', true);
    await revokeKey(hub, key.id);
    await untilShownOffline();
    expect(home.devices.has(stayingId)).toBe(true);
  });

  it('refuses commands without the scope, and shows sensors instead of controls', async () => {
    await withKey(['DEVICES_READ']);
    const fleet = await devices(1, 9);
    const [id = ''] = await eventually(
      () => Object.keys(home.devices.size === 1 ? Object.fromEntries(home.devices) : {}),
      (ids) =>
        ids.length === 1 && home.devices.get(ids[0] ?? '')?.components['sensor_audio_speaker_volume'] !== undefined,
    );
    const components = Object.values(home.devices.get(id)?.components ?? {});
    expect(components.filter(({ command_topic: topic }) => topic !== undefined)).toEqual([]);
    const volume = home.valueOf(id, 'sensor_audio_speaker_volume');
    await home.publish(`flotilla/${id.replaceAll(':', '')}/${VOLUME}/set`, '3');
    await counted('refused', 1);
    expect((await fleet.levels())[id]?.volume).toBe(volume);
  });

  it('has 200 devices back after a start of Home Assistant, and after the loss of the broker', async () => {
    await withKey(['DEVICES_READ', 'TOOLS_CALL']);
    await devices(200, 20);
    const ids = await discovered(200);
    const isBack = () => ids.every((id) => (home.counts.get(configTopic(id)) ?? 0) > 0 && home.isAvailable(id));
    const took = async (what: string): Promise<number> => {
      const from = performance.now();
      await eventually(isBack, (back) => back, 60_000);
      const ms = Math.round(performance.now() - from);
      process.stderr.write(`Home Assistant: 200 devices were back ${what} after ${String(ms)} ms.\n`);
      return ms;
    };
    await home.birth();
    const afterBirth = await took('after a birth message');
    if (process.env['FLOTILLA_TEST_LONG'] === '1') expect(afterBirth).toBeLessThan(10_000);
    await broker.kill();
    home.messages.clear();
    home.counts.clear();
    await broker.restart();
    await took('after a restart of the broker');
    await eventually(
      () => metric(hub, 'flotilla_home_assistant_connected'),
      (value) => value === 1,
    );
  });
});

const configTopic = (id: string) => `homeassistant/device/flotilla_${id.replaceAll(':', '')}/config`;

/** A device of an earlier run, as the broker keeps it. */
const ghost = JSON.stringify({
  device: { identifiers: ['ghost'], name: 'Ghost', serial_number: 'ghost' },
  origin: { name: 'Flotilla' },
  availability: [{ topic: 'flotilla/status' }],
  components: { sensor_gone: { platform: 'sensor', unique_id: 'ghost' } },
});
