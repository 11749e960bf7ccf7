/** A fleet with realistic data, and the addresses of all console pages, for screenshots. */
import { eventually } from '../eventually.js';
import { makeImage } from '../jobs/firmware-image.js';
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

type Hub = Pick<HubProcess, 'httpUrl' | 'adminKey'>;

export interface Scenery {
  /** An online device with many tools. */
  readonly deviceId: string;
  readonly doneJobId: string;
  /** Stands behind the gate of its first wave. */
  readonly pausedJobId: string;
  readonly desiredId: string;
}

export interface ScenePage {
  /** As in the navigation, or what it is a part of. */
  readonly name: string;
  readonly pathOf: (scenery: Scenery) => string;
}

export const pages: readonly ScenePage[] = [
  { name: 'overview', pathOf: () => '/' },
  { name: 'devices', pathOf: () => '/devices' },
  { name: 'devices-filtered', pathOf: () => '/devices?presence=ONLINE&tags=%5B%22lobby%22%5D' },
  { name: 'device', pathOf: ({ deviceId }) => `/devices/${deviceId}` },
  { name: 'device-measurements', pathOf: ({ deviceId }) => `/devices/${deviceId}?tab=measurements` },
  { name: 'device-pictures', pathOf: ({ deviceId }) => `/devices/${deviceId}?tab=pictures` },
  { name: 'device-calls', pathOf: ({ deviceId }) => `/devices/${deviceId}?tab=calls` },
  { name: 'device-history', pathOf: ({ deviceId }) => `/devices/${deviceId}?tab=history` },
  { name: 'jobs', pathOf: () => '/jobs' },
  { name: 'job', pathOf: ({ doneJobId }) => `/jobs/${doneJobId}` },
  { name: 'job-paused', pathOf: ({ pausedJobId }) => `/jobs/${pausedJobId}` },
  { name: 'job-new', pathOf: () => '/jobs/new?tool=self.audio_speaker.set_volume' },
  { name: 'recurring', pathOf: () => '/recurring' },
  { name: 'desired', pathOf: () => '/desired' },
  { name: 'desired-state', pathOf: ({ desiredId }) => `/desired/${desiredId}` },
  { name: 'desired-edit', pathOf: ({ desiredId }) => `/desired/${desiredId}/edit` },
  { name: 'firmware', pathOf: () => '/firmware' },
  { name: 'measurements', pathOf: () => '/measurements' },
  { name: 'calls', pathOf: () => '/calls?hours=24' },
  { name: 'alerts', pathOf: () => '/alerts' },
  { name: 'alert-rules', pathOf: () => '/alerts?view=rules' },
  { name: 'alert-channels', pathOf: () => '/alerts?view=channels' },
  { name: 'events', pathOf: () => '/events' },
  { name: 'explore', pathOf: () => '/explore' },
  { name: 'enrolments', pathOf: () => '/enrolments' },
  { name: 'audit', pathOf: () => '/audit' },
  { name: 'access', pathOf: () => '/access' },
  { name: 'webhooks', pathOf: () => '/webhooks' },
  { name: 'settings', pathOf: () => '/settings' },
];

const call = `mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }`;
const createJob = `mutation ($input: CreateJobInput!, $key: String!) {
  createJob(input: $input, idempotencyKey: $key) { job { id } userErrors { message } }
}`;

/**
 * Waits until this many devices are online. Then tags some, calls some, and leaves one job done and
 * one paused at a gate.
 */
export async function furnish(hub: Hub, devices: number): Promise<Scenery> {
  const online = await eventually(
    async () =>
      (await ask<OnlineDevices>(hub, '{ devices(first: 200, filter: { presence: ONLINE }) { nodes { id } } }')).devices
        .nodes,
    (nodes) => nodes.length >= devices,
    60_000,
  );
  const tag = 'mutation ($input: TagDevicesInput!) { tagDevices(input: $input) { changedCount } }';
  const ids = online.map(({ id }) => id);
  await ask(hub, tag, { input: { filter: { ids: ids.slice(0, 20) }, add: ['lobby', 'ground-floor'] } });
  await ask(hub, tag, { input: { filter: { ids: ids.slice(20, 32) }, add: ['canary'] } });
  const deviceId = ids[0] ?? '';
  for (const id of ids.slice(0, 8))
    await ask(hub, call, { input: { deviceId: id, tool: 'self.audio_speaker.set_volume', arguments: { volume: 40 } } });
  await ask(hub, call, { input: { deviceId, tool: 'self.audio_speaker.set_volume', arguments: { volume: 400 } } });
  await ask(hub, call, { input: { deviceId, tool: 'self.get_device_status' } });
  await publishImage(hub);
  await ask(hub, 'mutation ($input: WebhookInput!) { createWebhook(input: $input) { userErrors { message } } }', {
    input: { url: 'https://example.com/flotilla', types: ['device.*', 'job.finished'] },
  });
  const channel = `mutation ($input: NotificationChannelInput!) {
    createNotificationChannel(input: $input) { userErrors { message } } }`;
  await ask(hub, channel, { input: { name: 'On call', kind: 'EMAIL', config: { to: ['ops@example.com'] } } });
  await ask(
    hub,
    'mutation ($input: DeviceGroupInput!) { createDeviceGroup(input: $input) { userErrors { message } } }',
    {
      input: { name: 'Lobby', filter: { tags: ['lobby'] } },
    },
  );
  const all = { devices: { all: true } };
  const done = await jobOf(
    hub,
    { name: 'Night volume', tool: 'self.audio_speaker.set_volume', arguments: { volume: 20 }, ...all },
    'done',
  );
  const paused = await jobOf(
    hub,
    { name: 'Ask for states', tool: 'self.get_device_status', ...all, waves: [{ percent: 25, gate: 'MANUAL' }] },
    'paused',
  );
  await eventually(
    async () =>
      (await ask<{ job: { state: string } }>(hub, 'query ($id: ID!) { job(id: $id) { state } }', { id: done })).job
        .state,
    (state) => state === 'FINISHED',
    30_000,
  );
  return { deviceId, doneJobId: done, pausedJobId: paused, desiredId: await desiredStates(hub) };
}

/** Two desired states, one of which is overridden on some devices. Returns the other one. */
async function desiredStates(hub: Hub): Promise<string> {
  const query = `mutation ($input: DesiredStateInput!, $key: String!) {
    createDesiredState(input: $input, idempotencyKey: $key) { desiredState { id } userErrors { message } } }`;
  const idOf = async (input: Readonly<Record<string, unknown>>) => {
    const { createDesiredState: answer } = await ask<{
      createDesiredState: { desiredState: { id: string } | null; userErrors: readonly unknown[] };
    }>(hub, query, { input, key: input['name'] });
    if (answer.desiredState === null) throw new Error(`It was refused: ${JSON.stringify(answer.userErrors)}`);
    return answer.desiredState.id;
  };
  const tool = 'self.audio_speaker.set_volume';
  await idOf({ name: 'Loud canaries', tool, arguments: { volume: 60 }, devices: { tags: ['canary'] }, priority: 5 });
  return idOf({ name: 'Quiet shops', tool, arguments: { volume: 30 }, devices: { all: true }, holdSeconds: 900 });
}

/** Uploaded, and published for one of the simulated boards. */
async function publishImage(hub: Hub): Promise<void> {
  const form = new FormData();
  form.append('kind', 'FIRMWARE');
  form.append('file', new Blob([makeImage({ version: '9.1.0' })]), 'xiaozhi.bin');
  const headers = { authorization: `Bearer ${hub.adminKey}` };
  const answer = await fetch(`${hub.httpUrl}/api/firmware`, { method: 'POST', headers, body: form });
  const { id } = (await answer.json()) as { id: string };
  const publish =
    'mutation ($id: ID!) { publishFirmwareImage(id: $id, models: ["bread-compact-wifi"]) { userErrors { message } } }';
  await ask(hub, publish, { id });
}

async function jobOf(hub: Hub, input: Readonly<Record<string, unknown>>, key: string): Promise<string> {
  const { createJob: answer } = await ask<{
    createJob: { job: { id: string } | null; userErrors: readonly unknown[] };
  }>(hub, createJob, {
    input,
    key,
  });
  if (answer.job === null) throw new Error(`createJob refused: ${JSON.stringify(answer.userErrors)}`);
  return answer.job.id;
}

interface OnlineDevices {
  readonly devices: { readonly nodes: readonly { readonly id: string }[] };
}
