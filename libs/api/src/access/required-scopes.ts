/**
 * The scope that each operation and field needs. An operation of the schema that is missing here
 * does not compile.
 */
import { hasScope } from '@flotilla/fleet';
import type { Principal, Scope } from '@flotilla/registry';
import type { Mutation, Query, Subscription } from '../generated/schema-types.js';

/** ANY_KEY: every valid key may. */
export type Requirement = Scope | 'ANY_KEY' | Hidden;

/** Without the scope a field has this value, so that lists of another scope stay readable. */
export interface Hidden {
  readonly without: Scope;
  readonly shows: null | readonly never[];
}

type EveryField<Root> = Readonly<Record<Exclude<keyof Root, '__typename'>, Exclude<Requirement, Hidden>>>;

const nullWithout = (without: Scope): Hidden => ({ without, shows: null });
const nullWithoutDevices = nullWithout('DEVICES_READ');
const emptyWithoutDevices: Hidden = { without: 'DEVICES_READ', shows: [] };

const query: EveryField<Query> = {
  viewer: 'ANY_KEY',
  device: 'DEVICES_READ',
  devices: 'DEVICES_READ',
  fleetSummary: 'DEVICES_READ',
  hubStatus: 'ADMIN',
  voiceServers: 'ADMIN',
  deviceGroup: 'DEVICES_READ',
  deviceGroups: 'DEVICES_READ',
  tools: 'DEVICES_READ',
  toolPolicies: 'DEVICES_READ',
  call: 'DEVICES_READ',
  calls: 'DEVICES_READ',
  events: 'EVENTS_READ',
  job: 'JOBS_READ',
  jobs: 'JOBS_READ',
  // libs/fleet also requires TOOLS_CALL to create, preview, approve or rerun a job that calls a
  // tool.
  previewJob: 'JOBS_WRITE',
  recurringJob: 'JOBS_READ',
  recurringJobs: 'JOBS_READ',
  desiredState: 'JOBS_READ',
  desiredStates: 'JOBS_READ',
  previewDesiredState: 'JOBS_READ',
  recordingRules: 'EVENTS_READ',
  fleetMeasurements: 'DEVICES_READ',
  fleetMeasurementPaths: 'DEVICES_READ',
  firmwareHealth: 'DEVICES_READ',
  firmwareImages: 'DEVICES_READ',
  firmwareImage: 'DEVICES_READ',
  firmwareSigningKeys: 'DEVICES_READ',
  enrolments: 'DEVICES_READ',
  blockedBoards: 'DEVICES_READ',
  movingBoards: 'DEVICES_READ',
  movingSummary: 'DEVICES_READ',
  enrolmentLinks: 'ADMIN',
  previewRegistration: 'DEVICES_WRITE',
  uploads: 'DEVICES_READ',
  auditEntries: 'ADMIN',
  apiKeys: 'ADMIN',
  // libs/fleet shows people their own.
  agentGrants: 'ANY_KEY',
  webhooks: 'ADMIN',
  alertRules: 'EVENTS_READ',
  alerts: 'EVENTS_READ',
  alert: 'EVENTS_READ',
  previewAlertRule: 'ADMIN',
  notificationChannels: 'EVENTS_READ',
  users: 'ADMIN',
  appliedConfigurations: 'ADMIN',
};

const mutation: EveryField<Mutation> = {
  callTool: 'TOOLS_CALL',
  refreshTools: 'DEVICES_WRITE',
  updateDevice: 'DEVICES_WRITE',
  tagDevices: 'DEVICES_WRITE',
  createDeviceGroup: 'DEVICES_WRITE',
  updateDeviceGroup: 'DEVICES_WRITE',
  deleteDeviceGroup: 'DEVICES_WRITE',
  registerDevice: 'DEVICES_WRITE',
  registerDevices: 'DEVICES_WRITE',
  // They call tools that are for users only.
  takeSnapshot: 'TOOLS_CALL_PRIVILEGED',
  showImage: 'TOOLS_CALL_PRIVILEGED',
  setDevicesTransport: 'DEVICES_WRITE',
  removeDevice: 'DEVICES_WRITE',
  removeDevices: 'DEVICES_WRITE',
  rotateDeviceCredential: 'DEVICES_WRITE',
  approveEnrolment: 'DEVICES_WRITE',
  rejectEnrolment: 'DEVICES_WRITE',
  blockBoard: 'DEVICES_WRITE',
  unblockBoard: 'DEVICES_WRITE',
  addMovingBoards: 'DEVICES_WRITE',
  moveBoards: 'DEVICES_WRITE',
  moveBoardsBack: 'DEVICES_WRITE',
  // A link enrols devices without an approval.
  createEnrolmentLink: 'ADMIN',
  revokeEnrolmentLink: 'ADMIN',
  // A policy says what may be done twice: calls and jobs of everybody rely on it.
  setToolPolicy: 'ADMIN',
  deleteToolPolicy: 'ADMIN',
  // The creator of a webhook chooses where events go.
  createWebhook: 'ADMIN',
  updateWebhook: 'ADMIN',
  deleteWebhook: 'ADMIN',
  redeliverWebhook: 'ADMIN',
  testWebhook: 'ADMIN',
  // Rules and channels decide what operators hear of, and where it is sent.
  createAlertRule: 'ADMIN',
  updateAlertRule: 'ADMIN',
  deleteAlertRule: 'ADMIN',
  acknowledgeAlert: 'DEVICES_WRITE',
  snoozeAlertRule: 'DEVICES_WRITE',
  createNotificationChannel: 'ADMIN',
  updateNotificationChannel: 'ADMIN',
  deleteNotificationChannel: 'ADMIN',
  testNotificationChannel: 'ADMIN',
  createJob: 'JOBS_WRITE',
  rerunJob: 'JOBS_WRITE',
  approveJob: 'JOBS_WRITE',
  denyJob: 'JOBS_WRITE',
  pauseJob: 'JOBS_WRITE',
  resumeJob: 'JOBS_WRITE',
  cancelJob: 'JOBS_WRITE',
  // As for a job, libs/fleet also requires TOOLS_CALL.
  createRecurringJob: 'JOBS_WRITE',
  updateRecurringJob: 'JOBS_WRITE',
  deleteRecurringJob: 'JOBS_WRITE',
  runRecurringJob: 'JOBS_WRITE',
  createDesiredState: 'JOBS_WRITE',
  updateDesiredState: 'JOBS_WRITE',
  setDesiredStateEnabled: 'JOBS_WRITE',
  deleteDesiredState: 'JOBS_WRITE',
  publishFirmwareImage: 'FIRMWARE_WRITE',
  withdrawFirmwareImage: 'FIRMWARE_WRITE',
  deleteFirmwareImage: 'FIRMWARE_WRITE',
  // A key decides whose firmware devices run.
  addFirmwareSigningKey: 'ADMIN',
  removeFirmwareSigningKey: 'ADMIN',
  openNextWave: 'JOBS_WRITE',
  // The roll-out of an image also needs FIRMWARE_WRITE, like each call that changes firmware.
  revertJob: 'JOBS_WRITE',
  setRecordingRule: 'ADMIN',
  deleteRecordingRule: 'ADMIN',
  createApiKey: 'ADMIN',
  revokeApiKey: 'ADMIN',
  // libs/fleet lets people end their own.
  revokeAgentGrant: 'ANY_KEY',
  recordAppliedConfiguration: 'ADMIN',
  createUser: 'ADMIN',
  updateUser: 'ADMIN',
  signOutUser: 'ADMIN',
  deleteUser: 'ADMIN',
  // Users change their own password. A key has none and receives an error.
  changePassword: 'ANY_KEY',
};

const subscription: EveryField<Subscription> = {
  deviceChanged: 'DEVICES_READ',
  deviceListChanged: 'DEVICES_READ',
  eventAdded: 'EVENTS_READ',
  desiredStateChanged: 'JOBS_READ',
  jobProgress: 'JOBS_READ',
  jobTargetsDecided: 'JOBS_READ',
  // Messages show everything that is done with a device, by any caller.
  sessionLog: 'ADMIN',
  alertChanged: 'EVENTS_READ',
};

/**
 * Operations that affect the whole fleet. A scoped key may not use them, nor any operation of
 * ADMIN.
 */
export const fleetWideOperations: ReadonlySet<keyof Mutation> = new Set([
  'createDeviceGroup',
  'updateDeviceGroup',
  'deleteDeviceGroup',
  'approveEnrolment',
  'rejectEnrolment',
  'blockBoard',
  'unblockBoard',
  'addMovingBoards',
  'moveBoards',
  'moveBoardsBack',
  'publishFirmwareImage',
  'withdrawFirmwareImage',
  'deleteFirmwareImage',
]);

/** Whether the scopes of the viewer allow the mutation. For some objects, libs/fleet refuses it. */
export function hasScopeFor(viewer: Pick<Principal, 'scopes'>, name: keyof typeof mutation): boolean {
  const needed = mutation[name];
  return needed === 'ANY_KEY' || hasScope(viewer, needed);
}

/**
 * By type and field. Fields below the operations are here if they lead to objects of another scope.
 * Those of a payload are hidden: what was done must not look forbidden.
 */
export const requiredScopes: Readonly<Record<string, Readonly<Record<string, Requirement>>>> = {
  Query: query,
  Mutation: mutation,
  Subscription: subscription,
  Device: { alerts: 'EVENTS_READ', desiredStates: 'JOBS_READ', events: 'EVENTS_READ' },
  Alert: { device: nullWithoutDevices, devices: emptyWithoutDevices },
  AlertPayload: { alert: nullWithout('EVENTS_READ') },
  AlertRulePayload: { alertRule: nullWithout('EVENTS_READ') },
  Call: { device: nullWithoutDevices },
  Job: {
    targets: 'JOBS_READ',
    failureGroups: 'JOBS_READ',
    rerunOffer: 'JOBS_READ',
    decidedOverTime: 'JOBS_READ',
    firmwareImage: nullWithoutDevices,
  },
  RecurringJob: { lastJob: 'JOBS_READ', jobs: 'JOBS_READ' },
  RecurringJobPayload: { recurringJob: nullWithout('JOBS_READ') },
  DesiredStatePayload: { desiredState: nullWithout('JOBS_READ') },
  DesiredStatePreview: { sample: emptyWithoutDevices },
  DesiredStateTarget: { device: 'DEVICES_READ' },
  RecordingRulePayload: { recordingRule: nullWithout('EVENTS_READ') },
  JobTarget: { device: 'DEVICES_READ' },
  JobPreview: { sample: emptyWithoutDevices },
  UpdateDevicePayload: { device: nullWithoutDevices },
  DeviceGroupPayload: { deviceGroup: nullWithoutDevices },
  RefreshToolsPayload: { device: nullWithoutDevices },
  RegisterDevicePayload: { device: nullWithoutDevices },
  RegisterDevicesPayload: { devices: emptyWithoutDevices },
  EnrolmentPayload: { device: nullWithoutDevices },
  UploadPayload: { upload: nullWithoutDevices },
};
