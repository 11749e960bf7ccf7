/**
 * @flotilla/client against the built hub: common operations, errors by code, and lost connections.
 */
import { expectAccepted, FlotillaClient, FlotillaError } from '@flotilla/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { makeImage } from '../src/jobs/firmware-image.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { openSeverableHub, type SeverableHub } from '../src/hub/severable-hub.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { PATIENCE } from '../src/patience.js';

let hub: HubProcess;
let road: SeverableHub;
let fleet: SimulatedFleet;
let client: FlotillaClient;
let lamp: string;

/** Looks for lost connections soon, and gives up soon. */
const impatient = { backOffMs: 20, backOffMsMax: 100 };

beforeAll(async () => {
  hub = await startHub();
  road = await openSeverableHub(hub);
  fleet = startFleet(hub, { devices: 3, profile: 'lamp' });
  client = new FlotillaClient({
    url: `${road.httpUrl}/`,
    apiKey: hub.adminKey,
    webSocket: WebSocket,
    limits: impatient,
  });
  await online(hub, 3);
  for await (const { id } of client.devices()) lamp = id;
});

afterAll(async () => {
  client.close();
  await road.close();
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

/** What the promise was rejected with. */
async function failure(promise: Promise<unknown>): Promise<FlotillaError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(FlotillaError);
  return error as FlotillaError;
}

/** The event `device.removed`, made past the road that is cut. */
async function removeSomeDevice(deviceId: string): Promise<void> {
  const direct = new FlotillaClient({ url: hub.httpUrl, apiKey: hub.adminKey });
  const register =
    'mutation ($id: ID!) { registerDevice(input: { deviceId: $id, dialect: XIAOZHI }) { userErrors { code ' +
    'message path } } }';
  const { registerDevice } = await direct.request<{ registerDevice: { userErrors: [] } }>(register, { id: deviceId });
  expectAccepted(registerDevice);
  await direct.request<unknown>('mutation ($id: ID!) { removeDevice(deviceId: $id) { userErrors { code } } }', {
    id: deviceId,
  });
}

describe('everyday work', () => {
  it('lists devices over all pages', async () => {
    const ids: string[] = [];
    for await (const { id, presence } of client.devices({ filter: { presence: 'ONLINE' }, pageSize: 1 })) {
      expect(presence).toBe('ONLINE');
      ids.push(id);
    }
    expect(new Set(ids).size).toBe(3);
  });

  it('calls a tool, and hands every outcome over as data', async () => {
    expect(await client.callTool({ deviceId: lamp, tool: 'self.lamp.turn_on' })).toMatchObject({
      outcome: 'SUCCEEDED',
      deviceId: lamp,
    });
    const refused = await client.callTool({ deviceId: lamp, tool: 'self.lamp.explode' });
    expect(refused).toMatchObject({ outcome: 'REJECTED', error: { code: 'TOOL_UNKNOWN' } });
  });

  it('makes a job once, and follows it to its end', async () => {
    const input = { tool: 'self.lamp.turn_off', devices: { all: true } };
    const { id } = await client.createJob(input, { idempotencyKey: 'client-story-1' });
    expect((await client.createJob(input, { idempotencyKey: 'client-story-1' })).id).toBe(id);
    const states: string[] = [];
    for await (const { state, conclusion, progress } of client.followJob(id)) {
      states.push(state);
      if (state === 'FINISHED') expect([conclusion, progress.succeeded]).toEqual(['SUCCEEDED', 3]);
    }
    expect(states.at(-1)).toBe('FINISHED');
  });

  it('follows the targets of a job until it is finished', async () => {
    // Later, so that it is followed before anything is decided.
    const startAt = new Date(Date.now() + 1_500).toISOString();
    const { id } = await client.createJob({ tool: 'self.lamp.turn_on', devices: { all: true }, startAt });
    const decided: (readonly [string, string | null])[] = [];
    for await (const targets of client.followJobTargets(id))
      decided.push(...targets.map((target) => [target.deviceId, target.outcome] as const));
    expect(decided).toHaveLength(3);
    expect(new Set(decided.map(([deviceId]) => deviceId)).size).toBe(3);
    expect(decided.every(([, outcome]) => outcome === 'SUCCEEDED')).toBe(true);
  });

  it('uploads a firmware image', async () => {
    const content = new Blob([makeImage({ version: '9.9.9' })]);
    const id = await client.uploadFirmware({ content, fileName: 'lamp.bin' });
    const { firmwareImage } = await client.request<{ firmwareImage: { version: string } }>(
      'query ($id: ID!) { firmwareImage(id: $id) { version } }',
      { id },
    );
    expect(firmwareImage.version).toBe('9.9.9');
    const refused = await failure(client.uploadFirmware({ content: new Blob(['no image']), fileName: 'x' }));
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.message).not.toBe('');
  });
});

describe('errors', () => {
  it('carry the code of the hub', async () => {
    const stranger = new FlotillaClient({ url: hub.httpUrl, apiKey: 'unknown', webSocket: WebSocket });
    expect((await failure(stranger.request('{ viewer { name } }'))).code).toBe('UNAUTHENTICATED');
    expect((await failure(stranger.events({}).next())).code).toBe('UNAUTHENTICATED');
    expect((await failure(stranger.followJob('x').next())).code).toBe('UNAUTHENTICATED');
    expect((await failure(client.request('{ viewer { nome } }'))).code).toBe('BAD_USER_INPUT');
  });

  it('carry what the hub does not want of an input', async () => {
    expect((await failure(client.callTool({ deviceId: 'unknown', tool: 'x' }))).code).toBe('NOT_FOUND');
    const refused = await failure(client.createJob({ devices: {}, tool: 'self.lamp.turn_on' }));
    expect([refused.code, refused.userErrors.length]).toEqual(['INVALID', 1]);
    expect(() => expectAccepted({ userErrors: [{ code: 'CONFLICT', message: 'no', path: ['name'] }] })).toThrow(
      'name: no',
    );
  });

  it('separate a hub that is away from one that does not answer, and obey the caller', async () => {
    const unreachable = new FlotillaClient({ url: 'http://127.0.0.1:9', limits: impatient });
    expect((await failure(unreachable.request('{ viewer { name } }'))).code).toBe('UNREACHABLE');
    expect((await failure(client.request('{ viewer { name } }', {}, { timeoutMs: 0 }))).code).toBe('TIMEOUT');
    expect((await failure(client.request('{ viewer { name } }', {}, { signal: AbortSignal.abort() }))).code).toBe(
      'ABORTED',
    );
    const ending = new AbortController();
    const events = client.events({ signal: ending.signal });
    const next = failure(events.next());
    setTimeout(() => ending.abort(), 50);
    expect((await next).code).toBe('ABORTED');
  });
});

describe('a connection that is lost', () => {
  it('loses no event, and repeats none', async () => {
    const ending = new AbortController();
    const seen: (string | null)[] = [];
    const reading = (async () => {
      for await (const { node } of client.events({ filter: { types: ['device.removed'] }, signal: ending.signal }))
        seen.push(node.deviceId);
    })();
    reading.catch(() => undefined);
    await removeSomeDevice('02:00:00:00:0c:01');
    await expect.poll(() => seen, { timeout: 10_000 * PATIENCE }).toEqual(['02:00:00:00:0c:01']);
    await road.cut();
    await removeSomeDevice('02:00:00:00:0c:02');
    await road.restore();
    await removeSomeDevice('02:00:00:00:0c:03');
    await expect.poll(() => seen.length, { timeout: 10_000 * PATIENCE }).toBe(3);
    await removeSomeDevice('02:00:00:00:0c:04');
    await expect.poll(() => seen.length, { timeout: 10_000 * PATIENCE }).toBe(4);
    expect(new Set(seen)).toEqual(new Set([1, 2, 3, 4].map((n) => `02:00:00:00:0c:0${n}`)));
    ending.abort();
    expect((await failure(reading)).code).toBe('ABORTED');
  });

  it('is dialled again by a subscription, which says so', async () => {
    const told: string[] = [];
    const job = await client.createJob({
      tool: 'self.lamp.turn_on',
      devices: { all: true },
      startAt: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const following = client.followJob(job.id, { onReconnect: () => told.push('again') });
    expect((await following.next()).value?.state).toBe('SCHEDULED');
    await road.cut();
    const next = following.next();
    await road.restore();
    expect((await next).value?.id).toBe(job.id);
    expect(told).toEqual(['again']);
    await following.return();
  });

  it('is no reason to fail a query that comes through later', async () => {
    await road.cut();
    const answer = client.request<{ viewer: { name: string } }>('{ viewer { name } }');
    await road.restore();
    expect((await answer).viewer.name).not.toBe('');
  });
});
