/**
 * A roll-out whose hub is killed: boards whose download the hub cut get the image once more, as the
 * same attempt, by a call or at their OTA check. The boards count what they were sent. [jobs §17]
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { startFleet, type FleetNotice, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { makeImage, publishedImage } from '../src/jobs/firmware-image.js';
import { finished, jobOf, online, sumOf, targetsOf } from '../src/jobs/job-api.js';
import { PATIENCE } from '../src/patience.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const BOARDS = isLong ? 60 : 24;
/** Downloads under way when the hub ends, at least. */
const LOADING = BOARDS / 4;
const MODEL = 'bread-compact-wifi';
/** Nearly as large as a board can store: the network buffers more than half of it. */
const IMAGE_BYTES = 4_000_000;
const KIB_PER_SECOND = 700;
const IN_TIME_MS = 60_000;

/** The first failure that counts would stop the job. */
const strict = { outcomes: ['FAILED', 'VERIFY_FAILED', 'UNKNOWN'], scope: 'JOB', count: 1, action: 'CANCEL' };

interface LoadingJob {
  readonly targets: {
    readonly nodes: readonly {
      readonly deviceId: string;
      readonly download: { readonly startedAt: string | null; readonly completedAt: string | null } | null;
    }[];
  };
}

describe(`a roll-out to ${BOARDS} boards`, () => {
  const dataDir = makeDataDir();
  const env = { FLOTILLA_VERIFY_SOAK_SECONDS: '1', FLOTILLA_VERIFY_OVERDUE_SECONDS: '120', FLOTILLA_LOG_LEVEL: 'warn' };
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let ids: readonly string[];

  beforeAll(async () => {
    hub = await startHub({ dataDir, embedded: true, env });
    const ota = await createEnrolmentLink(hub, { maxDevices: BOARDS });
    // Three seconds to boot: the job is made meanwhile, also on a busy machine.
    const args = ['--speed', '3', '--boot-ms', '9000', '--download-kib-per-second', String(KIB_PER_SECOND)];
    fleet = startFleet(hub, { devices: BOARDS, profile: 'lamp', seed: 51, ota, args });
    await online(hub, BOARDS, IN_TIME_MS);
    const query = '{ devices(first: 100) { nodes { id } } }';
    ids = (await ask<{ devices: { nodes: { id: string }[] } }>(hub, query)).devices.nodes.map(({ id }) => id);
  });
  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(dataDir);
  });

  /** The job, and the boards that are loading at this moment. */
  async function loading(id: string) {
    const query = `query ($id: ID!) {
        job(id: $id) { state conclusion pauseReason targets(first: 200) {
          nodes { deviceId state outcome error { message } download { startedAt completedAt } } } } }`;
    const { job } = await ask<{ job: LoadingJob }>(hub, query, { id });
    const boards = job.targets.nodes.flatMap(({ deviceId, download }) =>
      download !== null && download.startedAt !== null && download.completedAt === null ? deviceId : [],
    );
    // All of it is in the message if the boards never load.
    return { boards, job };
  }

  const countOf = (notices: readonly FleetNotice[], device: string, event: FleetNotice['event']) =>
    notices.filter((notice) => notice.device === device && notice.event === event).length;

  const kill = () => hub.kill();
  const stop = async () => void (await hub.stop());
  const cases = [
    { version: '9.9.1', what: 'is killed', reached: 'were called', end: kill },
    { version: '9.9.2', what: 'stops', reached: 'were offered it at their boot', end: stop },
    { version: '9.9.3', what: 'is killed', reached: 'were offered it at their boot', end: kill },
    { version: '9.9.4', what: 'stops', reached: 'were called', end: stop },
  ] as const;

  it.each(isLong ? cases : cases.slice(0, 1))(
    'reaches all boards that $reached where the hub $what while they load, in one attempt and two offers at most',
    async ({ version, reached, end }) => {
      const isOffered = reached !== 'were called';
      const firmwareImageId = await publishedImage(hub, makeImage({ version, dataBytes: IMAGE_BYTES }), [MODEL]);
      if (isOffered) {
        await fleet.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'reboot' } });
        await online(hub, 0, IN_TIME_MS);
      }
      const before = fleet.notices.length;
      const calledBefore = (await fleet.counts()).devices;
      const id = await jobOf(hub, { firmwareImageId, devices: { ids }, abort: [strict] }, version);
      await eventually(
        () => loading(id),
        ({ boards }) => boards.length >= LOADING,
        IN_TIME_MS,
      );
      const ports = { FLOTILLA_HTTP_PORT: String(hub.httpPort), FLOTILLA_MQTT_PORT: String(hub.mqttPort) };
      await end();
      hub = await startHub({ dataDir, embedded: true, env: { ...env, ...ports } });
      const job = await finished(hub, id, 2 * IN_TIME_MS);
      expect(job).toMatchObject({ conclusion: 'SUCCEEDED', progress: { succeeded: BOARDS } });
      expect(sumOf(job)).toBe(BOARDS);
      expect((await targetsOf(hub, id)).filter(({ attempts }) => attempts !== 1)).toEqual([]);

      const notices = fleet.notices.slice(before);
      const cut = ids.filter((device) => countOf(notices, device, 'updateFailed') > 0);
      // A hub that stops takes seconds, in which the network takes the rest of most images.
      if (end === kill) expect(cut.length).toBeGreaterThanOrEqual(LOADING);
      const called = (await fleet.counts()).devices;
      const callsOf = (device: string) =>
        (called[device]?.['self.upgrade_firmware'] ?? 0) - (calledBefore[device]?.['self.upgrade_firmware'] ?? 0);
      for (const device of ids) {
        // Each time that a board was sent the image it downloaded it, with success or without.
        const fetched = countOf(notices, device, 'installed') + countOf(notices, device, 'updateFailed');
        expect(fetched).toBe(cut.includes(device) ? 2 : 1);
        expect(countOf(notices, device, 'installed')).toBe(1);
        expect(callsOf(device)).toBeLessThanOrEqual(fetched);
      }
      // A board that was offered nothing at its boot connects and is called.
      expect(ids.every((device) => callsOf(device) > 0)).toBe(!isOffered);
      await online(hub, BOARDS, IN_TIME_MS);
    },
    3 * IN_TIME_MS * PATIENCE,
  );
});
