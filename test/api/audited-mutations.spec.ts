/**
 * Every mutation of the served schema leaves an entry in the audit trail. A new mutation fails here
 * until its request, or the reason for no entry, is added.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { makeImage, uploadImage } from '../src/jobs/firmware-image.js';
import { keyOfPerson, signedInPerson } from '../src/api/second-person.js';
import { ask, send } from '../src/api/graphql-client.js';
import { at, by, given, input, type Act } from '../src/api/mutation-act.js';
import { servedSchema } from '../src/api/schema/graphql-schema.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { firstDelivery, WebhookReceiver } from '../src/hub/webhook-receiver.js';
import { finished, online } from '../src/jobs/job-api.js';
import { askOta } from '../src/devices/ota-client.js';
import { enrolmentsOf, type EnrolmentNode } from '../src/devices/provisioning-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

/** Mutations without an audit entry, and why. */
const unaudited: Readonly<Record<string, string>> = {
  refreshTools: 'The device is asked what it can do; nothing is changed.',
  revertJob:
    'The entries are those of its jobs, as with createJob; it needs a finished roll-out, which has another story.',
  revokeAgentGrant: 'The entry is `grant.revoked`; it needs an agent that a person connected, which has another story.',
  acknowledgeAlert: 'The entry is `alert.acknowledged`; it needs an alert, which has another story.',
  changePassword: 'The entry is `user.password_changed`; it needs a signed-in person, which has another story.',
};

const person = { email: 'audited@example.com', role: 'VIEWER', password: 'correct horse battery' };
const AWAY = '02:00:00:00:aa:01';
const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
const screen = '02:00:01:00:00:00';
const second = '02:00:01:00:00:01';
/** Its restart must not be in the way of the other two. */
const restarting = '02:00:01:00:00:02';
const volume = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 3 } };

const receiver = new WebhookReceiver();
let hub: HubProcess;
let fleet: SimulatedFleet;
/** Ids and other things that one mutation gives for the next. */
const known: Record<string, string> = {};

beforeAll(async () => {
  await receiver.listen();
  hub = await startHub({ env: { FLOTILLA_APPROVALS: 'on', FLOTILLA_WEBHOOK_URLS: receiver.url } });
  fleet = startFleet(hub, { devices: 3, profile: 'screen-camera' });
  await online(hub, 3);
  known['person'] = await keyOfPerson(await signedInPerson(hub), ['JOBS_WRITE', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED']);
  known['image'] = (await uploadImage(hub, makeImage())).body.id ?? '';
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  receiver.close();
  removeDataDir(hub.dataDir);
});

const job = (value: Readonly<Record<string, unknown>>, name: string): Act => ({
  args: '(input: $input, idempotencyKey: $key)',
  variables: { 'input: CreateJobInput!': value, 'key: String!': name },
  select: 'job { id }',
  keep: [name, 'job.id'],
});
const yearlyJob = { ...volume, devices: { ids: [AWAY] } };
const yearly = (name: string) => ({ name, cron: '@yearly', timeZone: 'UTC', job: yearlyJob });
const recurring = (name: string): Act => ({
  args: '(input: $input, idempotencyKey: $key)',
  variables: { 'input: RecurringJobInput!': yearly(name), 'key: String!': name },
  select: 'recurringJob { id }',
  keep: ['recurring', 'recurringJob.id'],
});
const louder = (name: string) => ({ ...volume, name, devices: { ids: [AWAY] } });
const desired = (name: string): Act => ({
  args: '(input: $input, idempotencyKey: $key)',
  variables: { 'input: DesiredStateInput!': louder(name), 'key: String!': name },
  select: 'desiredState { id }',
  keep: ['desired', 'desiredState.id'],
});
const channel = (name: string) => ({ name, kind: 'WEBHOOK', config: { url: receiver.url, secret: 'of the channel' } });
const alertRule = (name: string) => ({ name, kind: 'JOB_STOPPED', channelIds: [known['channel']] });
const of = (name: string) => () => known[name] ?? '';

/** Makes and waits until the job has come so far. */
async function state(name: string, wanted: string): Promise<void> {
  await eventually(
    async () =>
      (await ask<{ job: { state: string } }>(hub, 'query ($id: ID!) { job(id: $id) { state } }', { id: known[name] }))
        .job.state,
    (now) => now === wanted,
  );
}

/** In the order in which they are made. */
const acts: Readonly<Record<string, readonly (() => Act | Promise<Act>)[]>> = {
  registerDevice: [() => input('RegisterDeviceInput', { deviceId: AWAY, dialect: 'XIAOZHI' })],
  registerDevices: [
    () => ({
      args: '(input: $input)',
      variables: { 'input: [RegisterDeviceInput!]!': [{ deviceId: '02:00:00:00:aa:02', dialect: 'XIAOZHI' }] },
    }),
  ],
  updateDevice: [() => input('UpdateDeviceInput', { deviceId: AWAY, name: 'Away' })],
  tagDevices: [() => input('TagDevicesInput', { filter: { ids: [AWAY] }, add: ['audited'] })],
  rotateDeviceCredential: [by('deviceId', () => AWAY)],
  callTool: [() => input('CallToolInput', { deviceId: restarting, tool: 'self.reboot' })],
  takeSnapshot: [by('deviceId', () => screen, { select: 'upload { id }', keep: ['upload', 'upload.id'] })],
  showImage: [
    () => ({
      args: '(deviceId: $id, uploadId: $upload)',
      variables: { 'id: ID!': screen, 'upload: ID!': known['upload'] },
    }),
  ],
  setDevicesTransport: [
    () => input('SetDevicesTransportInput', { filter: { ids: [AWAY] }, transport: 'WEBSOCKET', expectedCount: 1 }),
  ],
  removeDevice: [by('deviceId', () => '02:00:00:00:aa:02')],
  removeDevices: [
    async () => {
      const device = { deviceId: '02:00:00:00:aa:03', dialect: 'XIAOZHI' };
      await ask(hub, 'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { device { id } } }', {
        input: device,
      });
      return input('RemoveDevicesInput', { filter: { ids: [device.deviceId] }, expectedCount: 1 });
    },
  ],
  blockBoard: [by('deviceId', () => '02:00:00:00:bb:03')],
  unblockBoard: [by('deviceId', () => '02:00:00:00:bb:03')],
  addMovingBoards: [() => given('boards', '[MovingBoardInput!]!', [{ deviceId: '02:00:00:00:bb:04' }])],
  moveBoards: [() => given('deviceIds', '[ID!]!', ['02:00:00:00:bb:04'])],
  moveBoardsBack: [() => given('deviceIds', '[ID!]!', ['02:00:00:00:bb:04'])],
  createEnrolmentLink: [
    () =>
      input(
        'EnrolmentLinkInput',
        { name: 'audited', maxDevices: 3, expiresAt: inAnHour },
        { select: 'enrolmentLink { id }', keep: ['link', 'enrolmentLink.id'] },
      ),
  ],
  revokeEnrolmentLink: [by('id', of('link'))],
  approveEnrolment: [
    async () => ({
      args: '(code: $code)',
      variables: { 'code: String!': (await enrolment('02:00:00:00:bb:01')).code },
    }),
  ],
  rejectEnrolment: [
    async () => ({ args: '(id: $id)', variables: { 'id: ID!': (await enrolment('02:00:00:00:bb:02')).id } }),
  ],
  createDeviceGroup: [
    () =>
      input(
        'DeviceGroupInput',
        { name: 'audited', filter: { all: true } },
        { select: 'deviceGroup { id }', keep: ['group', 'deviceGroup.id'] },
      ),
  ],
  updateDeviceGroup: [
    () => ({
      args: '(id: $id, input: $input)',
      variables: {
        'id: ID!': known['group'],
        'input: DeviceGroupInput!': { name: 'audited too', filter: { all: true } },
      },
    }),
  ],
  deleteDeviceGroup: [by('id', of('group'))],
  setToolPolicy: [() => input('ToolPolicyInput', { pattern: 'self.audited', idempotent: false, disruptive: false })],
  deleteToolPolicy: [() => ({ args: '(pattern: $pattern)', variables: { 'pattern: String!': 'self.audited' } })],
  createApiKey: [
    () =>
      input(
        'CreateApiKeyInput',
        { name: 'second', scopes: ['JOBS_WRITE', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED'] },
        { select: 'secret apiKey { id }', keep: ['key', 'apiKey.id'] },
      ),
  ],
  createJob: [
    () => job({ tool: 'self.reboot', devices: { ids: [AWAY] } }, 'restart'),
    () => job({ tool: 'self.reboot', devices: { ids: [AWAY] } }, 'denied'),
    () => job({ ...volume, devices: { ids: [AWAY] } }, 'waiting'),
    () => job({ ...volume, devices: { ids: [screen, second] }, waves: [{ count: 1, gate: 'MANUAL' }] }, 'waves'),
    () => job({ ...volume, devices: { ids: [second] } }, 'done'),
  ],
  createRecurringJob: [() => recurring('audited')],
  updateRecurringJob: [
    () => ({
      args: '(id: $id, input: $input)',
      variables: { 'id: ID!': known['recurring'], 'input: RecurringJobInput!': yearly('audited too') },
    }),
  ],
  runRecurringJob: [by('id', of('recurring'))],
  deleteRecurringJob: [by('id', of('recurring'))],
  createDesiredState: [() => desired('desired')],
  updateDesiredState: [
    () => ({
      args: '(id: $id, expectedGeneration: 1, input: $input)',
      variables: { 'id: ID!': known['desired'], 'input: DesiredStateInput!': louder('desired too') },
    }),
  ],
  setDesiredStateEnabled: [by('enabled: false, id', of('desired'))],
  deleteDesiredState: [by('id', of('desired'))],
  setRecordingRule: [
    () => ({
      args: '(input: $input)',
      variables: { 'input: RecordingRuleInput!': { devices: { all: true }, path: 'samples:audited' } },
      select: 'recordingRule { id }',
      keep: ['recordingRule', 'recordingRule.id'],
    }),
  ],
  deleteRecordingRule: [by('id', of('recordingRule'))],
  approveJob: [by('id', of('restart'), { key: of('person') })],
  denyJob: [
    () => ({
      args: '(id: $id, reason: "not now")',
      variables: { 'id: ID!': known['denied'] },
      key: of('person'),
    }),
  ],
  pauseJob: [
    async () => {
      await state('waiting', 'RUNNING');
      return by('id', of('waiting'))();
    },
  ],
  resumeJob: [by('id', of('waiting'))],
  openNextWave: [
    async () => {
      await state('waves', 'PAUSED');
      return by('id', of('waves'))();
    },
  ],
  cancelJob: [by('id', of('waiting'))],
  rerunJob: [
    async () => {
      await finished(hub, known['done'] ?? '');
      return {
        args: '(id: $id, outcomes: [SUCCEEDED], idempotencyKey: "again")',
        variables: { 'id: ID!': known['done'] },
      };
    },
  ],
  addFirmwareSigningKey: [
    () =>
      input(
        'FirmwareSigningKeyInput',
        { name: 'audited', publicKey: Buffer.from('a key of 32 bytes for this story').toString('base64') },
        { select: 'firmwareSigningKey { id }', keep: ['signingKey', 'firmwareSigningKey.id'] },
      ),
  ],
  removeFirmwareSigningKey: [by('id', of('signingKey'))],
  publishFirmwareImage: [() => ({ args: '(id: $id, models: ["audited"])', variables: { 'id: ID!': known['image'] } })],
  withdrawFirmwareImage: [by('id', of('image'))],
  deleteFirmwareImage: [by('id', of('image'))],
  revokeApiKey: [by('id', of('key'))],
  createWebhook: [
    () =>
      input(
        'WebhookInput',
        { url: receiver.url, types: ['*'] },
        { select: 'webhook { id }', keep: ['webhook', 'webhook.id'] },
      ),
  ],
  updateWebhook: [
    () => ({
      args: '(id: $id, input: $input)',
      variables: { 'id: ID!': known['webhook'], 'input: WebhookInput!': { url: receiver.url, types: ['*'] } },
    }),
  ],
  redeliverWebhook: [async () => by('deliveryId', await firstDelivery(hub))()],
  deleteWebhook: [by('id', of('webhook'))],
  recordAppliedConfiguration: [
    () => ({
      args: '(input: $input)',
      variables: { 'input: [AppliedConfigurationInput!]!': [{ kind: 'DeviceGroup', name: 'audited', fields: {} }] },
    }),
  ],
  createNotificationChannel: [
    () =>
      input('NotificationChannelInput', channel('Audited'), {
        select: 'notificationChannel { id }',
        keep: ['channel', 'notificationChannel.id'],
      }),
  ],
  updateNotificationChannel: [
    () => ({
      args: '(id: $id, input: $input)',
      variables: { 'id: ID!': known['channel'], 'input: NotificationChannelInput!': channel('Audited too') },
    }),
  ],
  testNotificationChannel: [by('id', of('channel'))],
  createAlertRule: [
    () =>
      input('AlertRuleInput', alertRule('Audited'), {
        select: 'alertRule { id }',
        keep: ['alertRule', 'alertRule.id'],
      }),
  ],
  updateAlertRule: [
    () => ({
      args: '(id: $id, input: $input)',
      variables: { 'id: ID!': known['alertRule'], 'input: AlertRuleInput!': alertRule('Audited too') },
    }),
  ],
  snoozeAlertRule: [
    () => ({
      args: '(id: $id, until: $until)',
      variables: { 'id: ID!': known['alertRule'], 'until: DateTime!': inAnHour },
    }),
  ],
  deleteAlertRule: [by('id', of('alertRule'))],
  deleteNotificationChannel: [by('id', of('channel'))],
  createUser: [
    () => input('UserInput', { name: 'audited', ...person }, { select: 'user { id }', keep: ['user', 'user.id'] }),
  ],
  updateUser: [
    () => ({
      args: '(id: $id, input: $input)',
      variables: { 'id: ID!': known['user'], 'input: UserInput!': { name: 'audited too', role: 'OPERATOR' } },
    }),
  ],
  signOutUser: [by('id', of('user'))],
  deleteUser: [by('id', of('user'))],
};

/** A new board that waits for approval. */
async function enrolment(mac: string): Promise<EnrolmentNode> {
  await askOta(hub, { mac, uuid: randomUUID() });
  const found = (await enrolmentsOf(hub)).find(({ deviceId }) => deviceId === mac);
  if (found === undefined) throw new Error(`${mac} does not wait for approval.`);
  return found;
}

/** Only entries of callers: the hub adds some for its jobs meanwhile. */
async function latestEntry(): Promise<number> {
  const { auditEntries } = await ask<{ auditEntries: { nodes: { sequence: number; actor: string }[] } }>(
    hub,
    '{ auditEntries(first: 20) { nodes { sequence actor } } }',
  );
  return auditEntries.nodes.find(({ actor }) => actor !== 'hub')?.sequence ?? 0;
}

async function perform(mutation: string, { args, variables, select = '', keep, key }: Act): Promise<void> {
  const declared = Object.keys(variables).map((name) => `$${name}`);
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name.split(':')[0] ?? '', value]),
  );
  const fields = `{ userErrors { code message } ${select} }`;
  const query = `mutation (${declared.join(', ')}) { answer: ${mutation}${args} ${fields} }`;
  const { data, errors } = await send(hub, query, values, key?.() ?? hub.adminKey);
  expect(errors, mutation).toBeUndefined();
  const answer = data?.['answer'] as Readonly<Record<string, unknown>>;
  expect(answer['userErrors'], mutation).toEqual([]);
  if (typeof answer['secret'] === 'string') known['secret'] = answer['secret'];
  if (keep !== undefined) known[keep[0]] = String(at(answer, keep[1]));
}

it('every mutation leaves an entry on the audit trail', async () => {
  const served = Object.keys((await servedSchema(hub)).getMutationType()?.getFields() ?? {});
  expect([...Object.keys(acts), ...Object.keys(unaudited)].sort()).toEqual(served.sort());
  for (const [mutation, each] of Object.entries(acts)) {
    for (const act of each) {
      const made = await act();
      const before = await latestEntry();
      await perform(mutation, made);
      await eventually(latestEntry, (latest) => latest > before, 5_000).catch(() =>
        expect.fail(`${mutation} left no entry.`),
      );
    }
  }
});
