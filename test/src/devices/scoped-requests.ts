/** Requests that the stories of a scoped key make, by the key and by an administrator. */
import { randomUUID } from 'node:crypto';
import type { GraphQLField } from 'graphql';
import { connectAgent } from '../agents/agent-client.js';
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';
import { createDesiredState } from '../jobs/desired-state-api.js';
import { jobOf } from '../jobs/job-api.js';
import { STATUS } from './scoped-fleet.js';

/** Arguments of the queries that need some. */
const previewInputs: Readonly<Record<string, string>> = {
  fleetMeasurements: '(path: "self.get_device_status:battery.level", since: "2026-01-01T00:00:00Z")',
  firmwareHealth: '(since: "2026-01-01T00:00:00Z")',
  previewAlertRule: '(input: {name: "Preview", kind: DEVICE_OFFLINE, channelIds: []})',
  previewJob: `(input: {tool: "${STATUS}", devices: {all: true}})`,
  previewRegistration: '(input: [{deviceId: "02:00:00:00:00:01", dialect: XIAOZHI}])',
};

/** Mutations of one device. */
export const actsOn = (device: string) => [
  `callTool(input: {deviceId: "${device}", tool: "${STATUS}"})`,
  `updateDevice(input: {deviceId: "${device}", name: "mine"})`,
  `refreshTools(deviceId: "${device}")`,
  `takeSnapshot(deviceId: "${device}")`,
  `showImage(deviceId: "${device}", uploadId: "x")`,
  `removeDevice(deviceId: "${device}")`,
  `rotateDeviceCredential(deviceId: "${device}")`,
];

/** A job that the key makes. Returns its id. */
export function jobByKey(hub: HubProcess, key: string, input: Readonly<Record<string, unknown>>): Promise<string> {
  return jobOf({ ...hub, adminKey: key }, input, randomUUID());
}

/** Changes the tags of a device as an administrator. */
export async function tagDevice(
  hub: HubProcess,
  id: string,
  change: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
): Promise<void> {
  const tag = 'mutation ($input: TagDevicesInput!) { tagDevices(input: $input) { changedCount } }';
  await ask(hub, tag, { input: { filter: { ids: [id] }, ...change } });
}

interface Made {
  readonly createRecurringJob: { readonly recurringJob: { readonly id: string } };
}

/**
 * Saves a desired state, a recording rule and a recurring job with this filter. The recurring job
 * is one of the key. Returns the id of the desired state.
 */
export async function saveWithFilter(hub: HubProcess, devices: object, key: string): Promise<string> {
  const tool = 'self.audio_speaker.set_volume';
  const plan = { name: 'quiet', tool, arguments: { volume: 5 }, mode: 'REPORT', devices };
  const { id } = await createDesiredState(hub, plan, randomUUID());
  await ask(hub, 'mutation ($input: RecordingRuleInput!) { setRecordingRule(input: $input) { userErrors { code } } }', {
    input: { devices, path: `${STATUS}:battery.level` },
  });
  const schedule = (given: unknown) => ({
    name: 'nightly',
    cron: '@yearly',
    timeZone: 'UTC',
    job: { tool: STATUS, devices: given },
  });
  const create = `mutation ($input: RecurringJobInput!) {
    createRecurringJob(input: $input, idempotencyKey: "nightly") { recurringJob { id } } }`;
  const made = await ask<Made>({ ...hub, adminKey: key }, create, { input: schedule({ all: true }) });
  const { recurringJob } = made.createRecurringJob;
  const update = `mutation ($id: ID!, $input: RecurringJobInput!) {
    updateRecurringJob(id: $id, input: $input) { userErrors { code } } }`;
  await ask(hub, update, { ...recurringJob, input: schedule(devices) });
  return id;
}

/** The devices that the key sees, in a list of devices, in groups and tools; `other` is not one. */
export const devicesQuery = `query ($other: ID!) { viewer { devices } devices(first: 5) { totalCount nodes {
      id groups { name deviceCount filter devices(first: 5) { nodes { id } } } } }
    all: devices(filter: {all: true}) { totalCount } none: devices(filter: {ids: [$other]}) { totalCount }
    device(id: $other) { id }
    tools(filter: {name: "${STATUS}"}) { nodes { deviceCount } } deviceGroups { nodes { name } } }`;

/** A call and a job of others, a wider job, and the lists of all that the key sees. */
export const workQuery = `query ($theirs: ID!, $job: ID!, $wide: ID!) { call(id: $theirs) { id }
    calls(first: 200) { nodes { deviceId } }
    events(first: 200) { nodes { type deviceId } } job(id: $job) { id } jobs { nodes { id } }
    wide: job(id: $wide) { progress { total succeeded } targets { nodes { deviceId device { id } } } } }`;

/** What a device did, and what was before it came into the view. */
export const pastQuery = `query ($id: ID!, $before: ID!, $job: ID!) {
  call(id: $before) { id } calls { nodes { id } } events { nodes { id } } job(id: $job) { id } jobs { nodes { id } }
  device(id: $id) { id sessions { epoch } calls { nodes { id } } events { nodes { id } } } }`;

export const rerunMutation = `mutation ($id: ID!, $key: String!) {
  rerunJob(id: $id, outcomes: [SUCCEEDED], idempotencyKey: $key) {
    job { id } userErrors { code } } }`;

export const registerMutation = `mutation ($input: [RegisterDeviceInput!]!) { registerDevices(input: $input) {
    devices { id } userErrors { code } } }`;

/** An upload without a file, which the key may not make. */
export function uploadFirmware(hub: HubProcess, key: string): Promise<Response> {
  return fetch(`${hub.httpUrl}/api/firmware`, { method: 'POST', headers: { authorization: `Bearer ${key}` } });
}

/** The arguments of a query, or undefined where it needs an id that is not known. */
export function argumentsFor(field: GraphQLField<unknown, unknown>, id: string | undefined): string | undefined {
  const rows = field.args.some(({ name }) => name === 'first') ? '(first: 10)' : '';
  const given = id === undefined ? `${rows}${previewInputs[field.name] ?? ''}` : `(id: "${id}")`;
  return given === '' && field.args.some(({ name }) => name === 'id') ? undefined : given;
}

/** What an agent with the key gets from these tools without arguments. */
export async function shownToAgent(
  hub: HubProcess,
  key: string,
  names: readonly string[],
): Promise<readonly unknown[]> {
  const agent = await connectAgent(hub, { key });
  const shown = await Promise.all(names.map((name) => agent.callTool({ name, arguments: {} })));
  await agent.close();
  return shown;
}
