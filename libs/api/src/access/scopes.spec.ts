import { SCOPES, type Scope } from '@flotilla/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi, type OpenApi } from '../mount/mounted-api.suite.js';

let api: OpenApi;

beforeAll(async () => {
  api = await openApi();
  await api.addDevice('aa:00');
});

afterAll(() => api.close());

const operations: readonly (readonly [string, Scope])[] = [
  ['{ device(id: "aa:00") { id } }', 'DEVICES_READ'],
  ['{ devices { nodes { id } } }', 'DEVICES_READ'],
  ['{ tools { nodes { name } } }', 'DEVICES_READ'],
  ['{ deviceGroup(id: "x") { id } }', 'DEVICES_READ'],
  ['{ deviceGroups { nodes { id } } }', 'DEVICES_READ'],
  ['mutation { createDeviceGroup(input: {name: "", filter: {all: true}}) { userErrors { code } } }', 'DEVICES_WRITE'],
  [
    'mutation { updateDeviceGroup(id: "x", input: {name: "", filter: {all: true}}) { userErrors { code } } }',
    'DEVICES_WRITE',
  ],
  ['mutation { deleteDeviceGroup(id: "x") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['{ toolPolicies { pattern } }', 'DEVICES_READ'],
  ['{ call(id: "x") { id } }', 'DEVICES_READ'],
  ['{ calls { nodes { id } } }', 'DEVICES_READ'],
  ['{ events { nodes { id } } }', 'EVENTS_READ'],
  ['{ job(id: "x") { id } }', 'JOBS_READ'],
  ['{ jobs { nodes { id } } }', 'JOBS_READ'],
  ['{ recurringJob(id: "x") { id } }', 'JOBS_READ'],
  ['{ alertRules { id } }', 'EVENTS_READ'],
  ['{ alerts { nodes { id } } }', 'EVENTS_READ'],
  ['{ notificationChannels { id } }', 'EVENTS_READ'],
  ['mutation { acknowledgeAlert(id: "x") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { deleteAlertRule(id: "x") { userErrors { code } } }', 'ADMIN'],
  ['{ recurringJobs { nodes { id } } }', 'JOBS_READ'],
  ['{ appliedConfigurations { nodes { kind } } }', 'ADMIN'],
  ['mutation { recordAppliedConfiguration(input: []) { userErrors { code } } }', 'ADMIN'],
  ['mutation { deleteRecurringJob(id: "x") { userErrors { code } } }', 'JOBS_WRITE'],
  ['mutation { runRecurringJob(id: "x") { userErrors { code } } }', 'JOBS_WRITE'],
  ['{ desiredState(id: "x") { id } }', 'JOBS_READ'],
  ['{ desiredStates { nodes { id } } }', 'JOBS_READ'],
  ['mutation { setDesiredStateEnabled(id: "x", enabled: true) { userErrors { code } } }', 'JOBS_WRITE'],
  ['mutation { deleteDesiredState(id: "x") { userErrors { code } } }', 'JOBS_WRITE'],
  ['{ recordingRules { id } }', 'EVENTS_READ'],
  ['{ fleetMeasurements(path: "a:b", since: "2026-01-01T00:00:00Z") { path } }', 'DEVICES_READ'],
  ['{ firmwareHealth(since: "2026-01-01T00:00:00Z") { version } }', 'DEVICES_READ'],
  ['mutation { setRecordingRule(input: {devices: {all: true}, path: "a:b"}) { userErrors { code } } }', 'ADMIN'],
  ['mutation { deleteRecordingRule(id: "x") { userErrors { code } } }', 'ADMIN'],
  ['mutation { callTool(input: {deviceId: "aa:00", tool: "t"}) { userErrors { code } } }', 'TOOLS_CALL'],
  ['mutation { refreshTools(deviceId: "aa:00") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { updateDevice(input: {deviceId: "aa:00", name: "n"}) { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { tagDevices(input: {filter: {all: true}, add: ["t"]}) { userErrors { code } } }', 'DEVICES_WRITE'],
  [
    'mutation { createJob(input: {tool: "t", devices: {all: true}}, idempotencyKey: "k") { userErrors { code } } }',
    'JOBS_WRITE',
  ],
  ['mutation { pauseJob(id: "x") { userErrors { code } } }', 'JOBS_WRITE'],
  ['mutation { resumeJob(id: "x") { userErrors { code } } }', 'JOBS_WRITE'],
  ['mutation { cancelJob(id: "x") { userErrors { code } } }', 'JOBS_WRITE'],
  ['{ enrolments { nodes { id code } } }', 'DEVICES_READ'],
  ['{ enrolmentLinks { id } }', 'ADMIN'],
  ['mutation { registerDevice(input: {deviceId: "x", dialect: XIAOZHI}) { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { registerDevices(input: []) { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { removeDevice(deviceId: "x") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { rotateDeviceCredential(deviceId: "x") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { approveEnrolment(code: "x") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { rejectEnrolment(id: "x") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['{ blockedBoards { nodes { deviceId } } }', 'DEVICES_READ'],
  ['mutation { blockBoard(deviceId: "x") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { unblockBoard(deviceId: "x") { userErrors { code } } }', 'DEVICES_WRITE'],
  ['{ movingBoards { nodes { deviceId } } }', 'DEVICES_READ'],
  ['{ movingSummary { moved } }', 'DEVICES_READ'],
  ['mutation { addMovingBoards(boards: []) { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { moveBoards(deviceIds: []) { userErrors { code } } }', 'DEVICES_WRITE'],
  ['mutation { moveBoardsBack(deviceIds: []) { userErrors { code } } }', 'DEVICES_WRITE'],
  ['{ previewRegistration(input: []) { validCount } }', 'DEVICES_WRITE'],
  [
    'mutation { removeDevices(input: {filter: {all: true}, expectedCount: 99}) { userErrors { code } } }',
    'DEVICES_WRITE',
  ],
  [
    `mutation { setDevicesTransport(input: {filter: {all: true}, transport: MQTT, expectedCount: 99}) {
      userErrors { code } } }`,
    'DEVICES_WRITE',
  ],
  [
    `mutation { createEnrolmentLink(input: {
      name: "n", maxDevices: 0, expiresAt: "2026-01-01T00:00:00Z"
    }) { userErrors { code } } }`,
    'ADMIN',
  ],
  ['mutation { revokeEnrolmentLink(id: "x") { userErrors { code } } }', 'ADMIN'],
];

const scopes = SCOPES.filter((scope) => scope !== 'ADMIN');

describe('scopes', () => {
  it.each(operations)('%s needs %s, and no other scope is enough', async (query, needed) => {
    const allowed = await api.ask(query, {}, [needed]);
    expect(allowed.codes).toEqual([]);
    const others = scopes.filter((scope) => scope !== needed);
    const { codes, messages } = await api.ask(query, {}, others);
    expect(codes).toEqual(['FORBIDDEN']);
    expect(messages).toEqual([expect.stringContaining(`needs the scope ${needed}`)]);
  });

  it.each(operations)('%s is allowed to ADMIN', async (query) => {
    expect((await api.ask(query)).codes).toEqual([]);
  });

  it('allow every key to read its own identity', async () => {
    expect(await api.ask('{ viewer { name scopes } }', {}, [])).toMatchObject({
      data: { viewer: { name: 'key:', scopes: [] } },
    });
  });

  it('guard fields that lead to objects of another scope', async () => {
    const events = await api.ask('{ device(id: "aa:00") { id events { nodes { id } } } }', {}, ['DEVICES_READ']);
    expect(events).toMatchObject({ data: { device: null }, codes: ['FORBIDDEN'] });
  });

  it('hide the answer to a change from a key that may not read it: what was done does not look forbidden', async () => {
    const text =
      'mutation { updateDevice(input: {deviceId: "aa:00", name: "n"}) { device { id } userErrors { code } } }';
    const answer = await api.ask(text, {}, ['DEVICES_WRITE']);
    expect(answer).toMatchObject({ data: { updateDevice: { device: null, userErrors: [] } }, codes: [] });
    const added = `mutation { registerDevice(input: {deviceId: "02:00:00:00:77:01", dialect: XIAOZHI}) {
      device { id } credential } }`;
    expect(await api.ask(added, {}, ['DEVICES_WRITE'])).toMatchObject({
      data: { registerDevice: { device: null, credential: expect.anything() } },
      codes: [],
    });
  });
});
