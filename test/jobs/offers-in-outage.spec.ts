/**
 * A roll-out while PostgreSQL is away: booting devices get an ordinary answer, and their image once
 * it is back.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deviceThat, isOnline } from '../src/devices/device-api.js';
import { someUuid } from '../src/devices/device-credentials.js';
import { eventually } from '../src/eventually.js';
import { answerAsFirmware } from '../src/devices/firmware.js';
import { makeImage, publishedImage } from '../src/jobs/firmware-image.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, readJob, targetsOf } from '../src/jobs/job-api.js';
import { askOta, type OtaReply } from '../src/devices/ota-client.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { openSeverablePostgres, type SeverablePostgres } from '../src/hub/severable-postgres.js';

const IMAGE = '9.9.9';
/** As its OTA check and its greeting name the board. */
const BOARD_NAMES = ['lichuang-dev', 'bread-compact-wifi'];
const upgrade = {
  name: 'self.upgrade_firmware',
  description: 'Installs a firmware',
  inputSchema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
};

let postgres: SeverablePostgres;
let hub: HubProcess;
let firmwareImageId: string;

beforeAll(async () => {
  postgres = await openSeverablePostgres();
  const access = { FLOTILLA_ADMIN_KEY: 'a-key-for-the-story-of-the-offers-0123456789', FLOTILLA_DEVICE_AUTH: '' };
  const verification = { FLOTILLA_VERIFY_SOAK_SECONDS: '1', FLOTILLA_VERIFY_DEADLINE_SECONDS: '240' };
  hub = await startHub({ env: { ...access, ...verification, DATABASE_URL: postgres.url, FLOTILLA_ENROLMENT: 'open' } });
  firmwareImageId = await publishedImage(hub, makeImage({ version: IMAGE }), BOARD_NAMES);
});
afterEach(() => postgres.restore());
afterAll(async () => {
  await hub.stop();
  removeDataDir(hub.dataDir);
  await postgres.close();
});

const otaOf = (mac: string): Promise<OtaReply> => askOta(hub, { mac, uuid: someUuid });

type MqttSettings = NonNullable<OtaReply['body']['mqtt']>;

/** With the credentials of the first OTA check: the hub reveals a secret until it is used. */
async function connected(
  mac: string,
  { client_id: clientId, username, password }: MqttSettings,
  version?: string,
): Promise<RawMqttDevice> {
  const device = await RawMqttDevice.dial(hub);
  device.answer = (text) => answerAsFirmware(text, { tools: [upgrade], ...(version !== undefined && { version }) });
  device.hello({ clientId: String(clientId), username: String(username), password: Buffer.from(String(password)) });
  expect(await device.connack()).toBe(0);
  await deviceThat(hub, mac, (view) => isOnline(view) && view.tools.length > 0);
  return device;
}

async function targetOf(jobId: string, mac: string) {
  const target = (await targetsOf(hub, jobId)).find(({ deviceId }) => deviceId === mac);
  if (target === undefined) throw new Error(`${mac} is no target.`);
  return target;
}

describe('a roll-out whose devices boot while PostgreSQL is away', () => {
  it.each([
    ['cut off', ['02:00:6a:00:00:01', '02:00:6a:00:00:02', '02:00:6a:00:00:03']],
    ['hanging', ['02:00:6a:00:00:04', '02:00:6a:00:00:05', '02:00:6a:00:00:06']],
  ] as const)('offers nothing while it is %s, and the image exactly once when it is back', async (how, macs) => {
    const [boots, sleeps, stranger] = macs;
    const targets = [boots, sleeps];
    const settings = new Map<string, MqttSettings>();
    for (const mac of targets) {
      settings.set(mac, (await otaOf(mac)).body.mqtt ?? {});
      const device = await connected(mac, settings.get(mac) ?? {});
      device.drop();
      await deviceThat(hub, mac, (view) => !isOnline(view));
    }
    const jobId = await jobOf(hub, { firmwareImageId, devices: { ids: targets }, abort: [] }, `offers-${how}`);
    await eventually(
      () => readJob(hub, jobId),
      ({ state, progress }) => state === 'RUNNING' && progress.waitingDevice === 2,
    );

    // The next check makes the hub read which credentials were used; it must know them after that,
    // too.
    await pause(1_100);
    await otaOf(stranger);
    await pause(300);

    if (how === 'hanging') postgres.block();
    else await postgres.cut();
    for (let boot = 0; boot < 2; boot++) {
      const { status, body } = await otaOf(boots);
      expect(status).toBe(200);
      expect(body.mqtt).toEqual({ ...settings.get(boots), password: undefined });
      expect(body.firmware).toEqual({ version: '2.4.2', url: '' });
    }
    await postgres.restore();
    await eventually(
      () => fetch(`${hub.httpUrl}/health/ready`).then(({ status }) => status),
      (status) => status === 200,
    );
    // Checks of this time are answered too late for the device: they must not count as sent.
    await eventually(
      () => targetsOf(hub, jobId).catch(() => []),
      (found) => found.length === 2,
    );
    expect(await targetOf(jobId, boots)).toMatchObject({ state: 'WAITING_DEVICE', attempts: 0 });

    // Three boots at once: only a device whose target is on record gets the image.
    let answers: readonly OtaReply[] = [];
    await eventually(
      async () => (answers = await Promise.all([otaOf(boots), otaOf(boots), otaOf(boots)])),
      (replies) => replies.some(({ body }) => body.firmware?.version === IMAGE),
    );
    expect(await targetOf(jobId, boots)).toMatchObject({ state: 'VERIFYING', attempts: 1 });
    const offered = answers.filter(({ body }) => body.firmware?.version === IMAGE);
    expect(offered).toHaveLength(1);
    const url = offered[0]?.body.firmware?.url ?? '';
    expect((await fetch(url)).headers.get('content-length')).toBe(String(makeImage({ version: IMAGE }).length));
    // With its former version the board would count as one that went back.
    const updated = await askOta(hub, { mac: boots, uuid: someUuid, version: IMAGE });
    expect(updated.body.firmware?.url).toBe('');
    expect(await targetOf(jobId, sleeps)).toMatchObject({ state: 'WAITING_DEVICE', attempts: 0 });

    const back = await connected(boots, settings.get(boots) ?? {}, IMAGE);
    await eventually(
      () => targetOf(jobId, boots),
      ({ outcome }) => outcome === 'SUCCEEDED',
    );
    back.drop();
    await ask(hub, 'mutation ($id: ID!) { cancelJob(id: $id) { userErrors { code } } }', { id: jobId });
    expect((await finished(hub, jobId)).progress).toMatchObject({ succeeded: 1, cancelled: 1 });
  });
});
