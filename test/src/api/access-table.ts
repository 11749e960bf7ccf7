/**
 * Each operation of the API with the scope that it needs, the smallest request, and the answer to a
 * permitted caller. Written from the contract, independent of the access rules of the hub, so that
 * each checks the other.
 */
import type { Scope } from './api-keys.js';

/**
 * `$1` is a name that is used once, `$id` an id that does not exist, `$mac` a new device,
 * `$tomorrow` a time.
 */
export interface AccessRow {
  readonly needs: Scope | 'ANY_KEY';
  /** Needed besides: no key with one scope alone may, but for ADMIN. */
  readonly also?: Scope;
  readonly input: string;
  /** The answer to a key with the scope: values, nothing, or a refusal as data. */
  readonly allowed: string;
  /**
   * The answer to a key with all scopes except ADMIN, limited to some devices; by default as
   * `allowed`.
   */
  readonly narrowed?: string;
}

const mayCall = (needs: Scope, input: string, allowed = 'data'): AccessRow => ({
  needs,
  input,
  allowed,
  also: 'TOOLS_CALL',
});
const may = (needs: AccessRow['needs'], input = '', allowed = 'data', narrowed?: string): AccessRow => ({
  needs,
  input,
  allowed,
  ...(narrowed === undefined ? {} : { narrowed }),
});

const notFound = 'userErrors NOT_FOUND';
const invalid = 'userErrors INVALID';
const forbidden = 'FORBIDDEN';
const group = '{name: "$1", filter: {ids: ["$id"]}}';
const job = '{tool: "self.get_device_status", devices: {ids: ["$id"]}}';
const recurring = `{name: "$1", cron: "@daily", timeZone: "UTC", job: ${job}}`;
const desired =
  '{name: "$1", tool: "self.audio_speaker.set_volume", arguments: {volume: 3}, devices: {ids: ["$id"]}, ' +
  'enabled: false}';
const alertRule = '{name: "$1", kind: DEVICE_OFFLINE, channelIds: []}';
const channel = '{name: "$1", kind: WEBHOOK, config: {url: "https://example.com/$1"}}';
const webhook = '{url: "https://example.com/$1", types: ["device.connected"]}';

export const queries: Readonly<Record<string, AccessRow>> = {
  viewer: may('ANY_KEY'),
  device: may('DEVICES_READ', '(id: "$id")', 'null'),
  devices: may('DEVICES_READ'),
  hubStatus: may('ADMIN'),
  voiceServers: may('ADMIN'),
  fleetSummary: may('DEVICES_READ'),
  deviceGroup: may('DEVICES_READ', '(id: "$id")', 'null'),
  deviceGroups: may('DEVICES_READ'),
  tools: may('DEVICES_READ'),
  toolPolicies: may('DEVICES_READ'),
  call: may('DEVICES_READ', '(id: "$id")', 'null'),
  calls: may('DEVICES_READ'),
  events: may('EVENTS_READ'),
  job: may('JOBS_READ', '(id: "$id")', 'null'),
  jobs: may('JOBS_READ'),
  previewJob: mayCall('JOBS_WRITE', `(input: ${job})`),
  desiredState: may('JOBS_READ', '(id: "$id")', 'null'),
  desiredStates: may('JOBS_READ'),
  previewDesiredState: may('JOBS_READ', `(input: ${desired})`),
  recordingRules: may('EVENTS_READ'),
  fleetMeasurements: may('DEVICES_READ', '(path: "samples:$1", since: "2026-01-01T00:00:00Z")'),
  fleetMeasurementPaths: may('DEVICES_READ'),
  firmwareHealth: may('DEVICES_READ', '(since: "2026-01-01T00:00:00Z")'),
  recurringJob: may('JOBS_READ', '(id: "$id")', 'null'),
  recurringJobs: may('JOBS_READ'),
  firmwareImages: may('DEVICES_READ'),
  firmwareImage: may('DEVICES_READ', '(id: "$id")', 'null'),
  firmwareSigningKeys: may('DEVICES_READ'),
  enrolments: may('DEVICES_READ'),
  blockedBoards: may('DEVICES_READ'),
  movingBoards: may('DEVICES_READ'),
  movingSummary: may('DEVICES_READ'),
  enrolmentLinks: may('ADMIN'),
  previewRegistration: may('DEVICES_WRITE', '(input: [{deviceId: "$mac", dialect: XIAOZHI}])'),
  uploads: may('DEVICES_READ'),
  users: may('ADMIN'),
  appliedConfigurations: may('ADMIN'),
  apiKeys: may('ADMIN'),
  agentGrants: may('ANY_KEY'),
  auditEntries: may('ADMIN'),
  webhooks: may('ADMIN'),
  alertRules: may('EVENTS_READ'),
  alerts: may('EVENTS_READ'),
  alert: may('EVENTS_READ', '(id: "$id")', 'null'),
  previewAlertRule: may('ADMIN', `(input: ${alertRule})`),
  notificationChannels: may('EVENTS_READ'),
};

export const mutations: Readonly<Record<string, AccessRow>> = {
  callTool: may('TOOLS_CALL', '(input: {deviceId: "$id", tool: "self.get_device_status"})', notFound),
  refreshTools: may('DEVICES_WRITE', '(deviceId: "$id")', notFound),
  updateDevice: may('DEVICES_WRITE', '(input: {deviceId: "$id", name: "$1"})', notFound),
  tagDevices: may('DEVICES_WRITE', '(input: {filter: {ids: ["$id"]}, add: ["matrix"]})'),
  // What a narrowed key adds must be among its own.
  registerDevice: may('DEVICES_WRITE', '(input: {deviceId: "$mac", dialect: XIAOZHI})', 'data', forbidden),
  registerDevices: may('DEVICES_WRITE', '(input: [{deviceId: "$mac", dialect: XIAOZHI}])', 'data', forbidden),
  takeSnapshot: may('TOOLS_CALL_PRIVILEGED', '(deviceId: "$id")', notFound),
  showImage: may('TOOLS_CALL_PRIVILEGED', '(deviceId: "$id", uploadId: "$id")', notFound),
  setDevicesTransport: may('DEVICES_WRITE', '(input: {filter: {ids: ["$id"]}, transport: MQTT, expectedCount: 0})'),
  removeDevice: may('DEVICES_WRITE', '(deviceId: "$id")', notFound),
  removeDevices: may('DEVICES_WRITE', '(input: {filter: {ids: ["$id"]}, expectedCount: 0})'),
  rotateDeviceCredential: may('DEVICES_WRITE', '(deviceId: "$id")', notFound),
  approveEnrolment: may('DEVICES_WRITE', '(code: "000000")', notFound, forbidden),
  rejectEnrolment: may('DEVICES_WRITE', '(id: "$id")', notFound, forbidden),
  blockBoard: may('DEVICES_WRITE', '(deviceId: "$mac")', 'data', forbidden),
  unblockBoard: may('DEVICES_WRITE', '(deviceId: "$id")', notFound, forbidden),
  addMovingBoards: may('DEVICES_WRITE', '(boards: [{deviceId: "$mac"}])', 'data', forbidden),
  moveBoards: may('DEVICES_WRITE', '(deviceIds: ["$id"])', notFound, forbidden),
  moveBoardsBack: may('DEVICES_WRITE', '(deviceIds: ["$id"])', notFound, forbidden),
  createEnrolmentLink: may('ADMIN', '(input: {name: "$1", maxDevices: 1, expiresAt: "$tomorrow"})'),
  revokeEnrolmentLink: may('ADMIN', '(id: "$id")', notFound),
  createDeviceGroup: may('DEVICES_WRITE', `(input: ${group})`, 'data', forbidden),
  updateDeviceGroup: may('DEVICES_WRITE', `(id: "$id", input: ${group})`, notFound, forbidden),
  deleteDeviceGroup: may('DEVICES_WRITE', '(id: "$id")', notFound, forbidden),
  setRecordingRule: may('ADMIN', '(input: {devices: {ids: ["$id"]}, path: "samples:$1"})'),
  deleteRecordingRule: may('ADMIN', '(id: "$id")', notFound),
  setToolPolicy: may('ADMIN', '(input: {pattern: "matrix.$1", idempotent: true, disruptive: false})'),
  deleteToolPolicy: may('ADMIN', '(pattern: "nothing.$1")', notFound),
  createJob: mayCall('JOBS_WRITE', `(input: ${job}, idempotencyKey: "$1")`),
  approveJob: may('JOBS_WRITE', '(id: "$id")', notFound),
  denyJob: may('JOBS_WRITE', '(id: "$id", reason: "a spec")', notFound),
  pauseJob: may('JOBS_WRITE', '(id: "$id")', notFound),
  resumeJob: may('JOBS_WRITE', '(id: "$id")', notFound),
  cancelJob: may('JOBS_WRITE', '(id: "$id")', notFound),
  openNextWave: may('JOBS_WRITE', '(id: "$id")', notFound),
  rerunJob: may('JOBS_WRITE', '(id: "$id", outcomes: [FAILED], idempotencyKey: "$1")', notFound),
  revertJob: may('JOBS_WRITE', '(id: "$id", idempotencyKey: "$1")', notFound),
  createRecurringJob: mayCall('JOBS_WRITE', `(input: ${recurring}, idempotencyKey: "$1")`),
  updateRecurringJob: may('JOBS_WRITE', `(id: "$id", input: ${recurring})`, notFound),
  deleteRecurringJob: may('JOBS_WRITE', '(id: "$id")', notFound),
  runRecurringJob: may('JOBS_WRITE', '(id: "$id")', notFound),
  createDesiredState: mayCall('JOBS_WRITE', `(input: ${desired}, idempotencyKey: "$1")`),
  updateDesiredState: mayCall('JOBS_WRITE', `(id: "$id", expectedGeneration: 1, input: ${desired})`, notFound),
  setDesiredStateEnabled: mayCall('JOBS_WRITE', '(id: "$id", enabled: true)', notFound),
  deleteDesiredState: mayCall('JOBS_WRITE', '(id: "$id")', notFound),
  publishFirmwareImage: may('FIRMWARE_WRITE', '(id: "$id", models: ["m"])', notFound, forbidden),
  withdrawFirmwareImage: may('FIRMWARE_WRITE', '(id: "$id")', notFound, forbidden),
  deleteFirmwareImage: may('FIRMWARE_WRITE', '(id: "$id")', notFound, forbidden),
  addFirmwareSigningKey: may('ADMIN', '(input: {name: "$1", publicKey: "no key"})', invalid),
  removeFirmwareSigningKey: may('ADMIN', '(id: "$id")', notFound),
  createApiKey: may('ADMIN', '(input: {name: "$1", scopes: [JOBS_READ]})'),
  revokeApiKey: may('ADMIN', '(id: "$id")', notFound),
  revokeAgentGrant: may('ANY_KEY', '(id: "$id")', notFound),
  recordAppliedConfiguration: may('ADMIN', '(input: [{kind: "DeviceGroup", name: "$1", fields: {}}])'),
  createUser: may(
    'ADMIN',
    '(input: {name: "$1", email: "$1@example.com", role: VIEWER, password: "long enough for a spec"})',
  ),
  updateUser: may('ADMIN', '(id: "$id", input: {name: "$1", role: VIEWER})', notFound),
  signOutUser: may('ADMIN', '(id: "$id")', notFound),
  deleteUser: may('ADMIN', '(id: "$id")', notFound),
  // The own one: a key has none, and hears so.
  changePassword: may('ANY_KEY', '(current: "x", new: "long enough for a spec")', invalid),
  createWebhook: may('ADMIN', `(input: ${webhook})`),
  updateWebhook: may('ADMIN', `(id: "$id", input: ${webhook})`, notFound),
  deleteWebhook: may('ADMIN', '(id: "$id")', notFound),
  redeliverWebhook: may('ADMIN', '(deliveryId: "$id")', notFound),
  testWebhook: may('ADMIN', '(id: "$id")', notFound),
  createAlertRule: may('ADMIN', `(input: ${alertRule})`),
  updateAlertRule: may('ADMIN', `(id: "$id", input: ${alertRule})`, notFound),
  deleteAlertRule: may('ADMIN', '(id: "$id")', notFound),
  acknowledgeAlert: may('DEVICES_WRITE', '(id: "$id")', notFound),
  snoozeAlertRule: may('DEVICES_WRITE', '(id: "$id", deviceId: "$id", until: "$tomorrow")', notFound),
  createNotificationChannel: may('ADMIN', `(input: ${channel})`),
  updateNotificationChannel: may('ADMIN', `(id: "$id", input: ${channel})`, notFound),
  deleteNotificationChannel: may('ADMIN', '(id: "$id")', notFound),
  testNotificationChannel: may('ADMIN', '(id: "$id")', notFound),
};

export const subscribed: Readonly<Record<string, AccessRow>> = {
  deviceChanged: may('DEVICES_READ'),
  deviceListChanged: may('DEVICES_READ'),
  eventAdded: may('EVENTS_READ'),
  desiredStateChanged: may('JOBS_READ', '(id: "$id")', 'NOT_FOUND'),
  jobProgress: may('JOBS_READ', '(jobId: "$id")', 'NOT_FOUND'),
  jobTargetsDecided: may('JOBS_READ', '(jobId: "$id")', 'NOT_FOUND'),
  sessionLog: may('ADMIN', '(deviceId: "$id")', 'NOT_FOUND'),
  alertChanged: may('EVENTS_READ'),
};

/**
 * Ways from what one scope shows to what another guards, on a device and a job that are there: with
 * the first alone they are refused.
 */
export const fieldsBehind: readonly (readonly [query: string, has: Scope | readonly Scope[], needs: Scope])[] = [
  ['{ device(id: "$device") { events { nodes { id } } } }', 'DEVICES_READ', 'EVENTS_READ'],
  ['{ device(id: "$device") { alerts { nodes { id } } } }', 'DEVICES_READ', 'EVENTS_READ'],
  ['{ job(id: "$job") { targets { nodes { device { id } } } } }', 'JOBS_READ', 'DEVICES_READ'],
  [`{ previewJob(input: ${job}) { targetCount } }`, 'JOBS_WRITE', 'TOOLS_CALL'],
  [`mutation { createJob(input: ${job}, idempotencyKey: "$1") { job { id } } }`, 'JOBS_WRITE', 'TOOLS_CALL'],
  [
    'mutation { rerunJob(id: "$job", outcomes: [SUCCEEDED], idempotencyKey: "$1") { job { id } } }',
    ['JOBS_WRITE', 'JOBS_READ'],
    'TOOLS_CALL',
  ],
  ['mutation { cancelJob(id: "$job") { job { targets { nodes { deviceId } } } } }', 'JOBS_WRITE', 'JOBS_READ'],
  ['mutation { cancelJob(id: "$job") { job { failureGroups { count } } } }', 'JOBS_WRITE', 'JOBS_READ'],
  ['mutation { cancelJob(id: "$job") { job { decidedOverTime { at } } } }', 'JOBS_WRITE', 'JOBS_READ'],
];
