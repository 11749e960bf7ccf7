/**
 * Pins the public contract: the API serves `schema.graphql`, and its operations keep names,
 * arguments and types.
 */
import { readFileSync } from 'node:fs';
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  type GraphQLSchema,
  type IntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi, type OpenApi } from './mounted-api.suite.js';

const contract = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

/** Clients depend on these; a change here breaks them. */
const operations = {
  Query: [
    'agentGrants: [AgentGrant!]!',
    'alert(id: ID!): Alert',
    'alertRules: [AlertRule!]!',
    'alerts(after: String, filter: AlertFilter, first: Int): AlertConnection!',
    'apiKeys: [ApiKey!]!',
    'appliedConfigurations(after: String, first: Int): AppliedConfigurationConnection!',
    'auditEntries(after: String, filter: AuditFilter, first: Int): AuditEntryConnection!',
    'blockedBoards(after: String, first: Int): BlockedBoardConnection!',
    'call(id: ID!): Call',
    'calls(after: String, filter: CallFilter, first: Int): CallConnection!',
    'desiredState(id: ID!): DesiredState',
    'desiredStates(after: String, first: Int): DesiredStateConnection!',
    'device(id: ID!): Device',
    'deviceGroup(id: ID!): DeviceGroup',
    'deviceGroups(after: String, first: Int, search: String): DeviceGroupConnection!',
    'devices(after: String, filter: DeviceFilter, first: Int, orderBy: DeviceOrder): DeviceConnection!',
    'enrolmentLinks: [EnrolmentLink!]!',
    'enrolments(after: String, first: Int): EnrolmentConnection!',
    'events(after: String, filter: EventFilter, first: Int, orderBy: EventOrder): EventConnection!',
    'firmwareHealth(filter: DeviceFilter, since: DateTime!): [FirmwareHealth!]!',
    'firmwareImage(id: ID!): FirmwareImage',
    'firmwareImages(after: String, first: Int, search: String): FirmwareImageConnection!',
    'firmwareSigningKeys: [FirmwareSigningKey!]!',
    'fleetMeasurementPaths(filter: DeviceFilter): [String!]!',
    'fleetMeasurements(filter: DeviceFilter, path: String!, points: Int, since: DateTime!, until: DateTime)' +
      ': FleetMeasurementSeries!',
    'fleetSummary(filter: DeviceFilter): FleetSummary!',
    'hubStatus: HubStatus!',
    'job(id: ID!): Job',
    'jobs(after: String, filter: JobFilter, first: Int): JobConnection!',
    'movingBoards(after: String, first: Int, state: MovingState): MovingBoardConnection!',
    'movingSummary: MovingSummary!',
    'notificationChannels: [NotificationChannel!]!',
    'previewAlertRule(input: AlertRuleInput!): AlertRulePreview!',
    'previewDesiredState(id: ID, input: DesiredStateInput!): DesiredStatePreview!',
    'previewJob(input: CreateJobInput!): JobPreview!',
    'previewRegistration(input: [RegisterDeviceInput!]!): RegistrationPreview!',
    'recordingRules: [RecordingRule!]!',
    'recurringJob(id: ID!): RecurringJob',
    'recurringJobs(after: String, first: Int): RecurringJobConnection!',
    'toolPolicies: [ToolPolicy!]!',
    'tools(after: String, filter: ToolFilter, first: Int): FleetToolConnection!',
    'uploads(after: String, deviceId: ID, first: Int): UploadConnection!',
    'users: [User!]!',
    'viewer: Viewer!',
    'voiceServers: [VoiceServer!]!',
    'webhooks: [Webhook!]!',
  ],
  Mutation: [
    'acknowledgeAlert(id: ID!, note: String): AlertPayload!',
    'addFirmwareSigningKey(input: FirmwareSigningKeyInput!): FirmwareSigningKeyPayload!',
    'addMovingBoards(boards: [MovingBoardInput!]!): AddMovingBoardsPayload!',
    'approveEnrolment(code: String!, confirm: Boolean, name: String, tags: [String!]): EnrolmentPayload!',
    'approveJob(id: ID!): JobPayload!',
    'blockBoard(deviceId: ID!, until: DateTime): BlockBoardPayload!',
    'callTool(input: CallToolInput!): CallToolPayload!',
    'cancelJob(force: Boolean, id: ID!): JobPayload!',
    'changePassword(current: String!, new: String!): UserPayload!',
    'createAlertRule(input: AlertRuleInput!): AlertRulePayload!',
    'createApiKey(input: CreateApiKeyInput!): CreateApiKeyPayload!',
    'createDesiredState(idempotencyKey: String!, input: DesiredStateInput!): DesiredStatePayload!',
    'createDeviceGroup(input: DeviceGroupInput!): DeviceGroupPayload!',
    'createEnrolmentLink(input: EnrolmentLinkInput!): EnrolmentLinkPayload!',
    'createJob(idempotencyKey: String!, input: CreateJobInput!): CreateJobPayload!',
    'createNotificationChannel(input: NotificationChannelInput!): NotificationChannelPayload!',
    'createRecurringJob(idempotencyKey: String!, input: RecurringJobInput!): RecurringJobPayload!',
    'createUser(input: UserInput!): UserPayload!',
    'createWebhook(input: WebhookInput!): CreateWebhookPayload!',
    'deleteAlertRule(id: ID!): DeletePayload!',
    'deleteDesiredState(id: ID!): DeletePayload!',
    'deleteDeviceGroup(id: ID!): DeleteDeviceGroupPayload!',
    'deleteFirmwareImage(id: ID!): FirmwareImagePayload!',
    'deleteNotificationChannel(id: ID!): DeletePayload!',
    'deleteRecordingRule(id: ID!): DeletePayload!',
    'deleteRecurringJob(id: ID!): DeletePayload!',
    'deleteToolPolicy(pattern: String!): DeleteToolPolicyPayload!',
    'deleteUser(id: ID!): DeletePayload!',
    'deleteWebhook(id: ID!): DeleteWebhookPayload!',
    'denyJob(id: ID!, reason: String!): JobPayload!',
    'moveBoards(deviceIds: [ID!]!): MoveBoardsPayload!',
    'moveBoardsBack(deviceIds: [ID!]!): MoveBoardsPayload!',
    'openNextWave(id: ID!): JobPayload!',
    'pauseJob(id: ID!): JobPayload!',
    'publishFirmwareImage(id: ID!, models: [String!]!, notes: String, replaceModels: Boolean): FirmwareImagePayload!',
    'recordAppliedConfiguration(input: [AppliedConfigurationInput!]!): AppliedConfigurationPayload!',
    'redeliverWebhook(deliveryId: ID!): WebhookPayload!',
    'refreshTools(deviceId: ID!): RefreshToolsPayload!',
    'registerDevice(input: RegisterDeviceInput!): RegisterDevicePayload!',
    'registerDevices(input: [RegisterDeviceInput!]!): RegisterDevicesPayload!',
    'rejectEnrolment(id: ID!): EnrolmentPayload!',
    'removeDevice(deviceId: ID!): RemoveDevicePayload!',
    'removeDevices(input: RemoveDevicesInput!): RemoveDevicesPayload!',
    'removeFirmwareSigningKey(id: ID!): DeletePayload!',
    'rerunJob(arguments: JSON, exceptCodes: [String!], id: ID!, idempotencyKey: String!, outcomes: [Outcome!]!)' +
      ': CreateJobPayload!',
    'resumeJob(id: ID!): JobPayload!',
    'revertJob(id: ID!, idempotencyKey: String!): CreateJobPayload!',
    'revokeAgentGrant(id: ID!): RevokeAgentGrantPayload!',
    'revokeApiKey(id: ID!): RevokeApiKeyPayload!',
    'revokeEnrolmentLink(id: ID!): EnrolmentLinkPayload!',
    'rotateDeviceCredential(deviceId: ID!): RotateDeviceCredentialPayload!',
    'runRecurringJob(id: ID!): JobPayload!',
    'setDesiredStateEnabled(enabled: Boolean!, id: ID!): DesiredStatePayload!',
    'setDevicesTransport(input: SetDevicesTransportInput!): SetDevicesTransportPayload!',
    'setRecordingRule(input: RecordingRuleInput!): RecordingRulePayload!',
    'setToolPolicy(expectedRevision: String, input: ToolPolicyInput!): ToolPolicyPayload!',
    'showImage(deviceId: ID!, uploadId: ID!): CallToolPayload!',
    'signOutUser(id: ID!): SignOutUserPayload!',
    'snoozeAlertRule(deviceId: ID, id: ID!, until: DateTime!): AlertRulePayload!',
    'tagDevices(input: TagDevicesInput!): TagDevicesPayload!',
    'takeSnapshot(deviceId: ID!, quality: Int): UploadPayload!',
    'testNotificationChannel(id: ID!): TestNotificationPayload!',
    'testWebhook(id: ID!): TestWebhookPayload!',
    'unblockBoard(deviceId: ID!): UnblockBoardPayload!',
    'updateAlertRule(expectedRevision: String, id: ID!, input: AlertRuleInput!): AlertRulePayload!',
    'updateDesiredState(expectedGeneration: Int!, id: ID!, input: DesiredStateInput!): DesiredStatePayload!',
    'updateDevice(input: UpdateDeviceInput!): UpdateDevicePayload!',
    'updateDeviceGroup(expectedRevision: String, id: ID!, input: DeviceGroupInput!): DeviceGroupPayload!',
    'updateNotificationChannel(expectedRevision: String, id: ID!, input: NotificationChannelInput!): ' +
      'NotificationChannelPayload!',
    'updateRecurringJob(expectedRevision: String, id: ID!, input: RecurringJobInput!): RecurringJobPayload!',
    'updateUser(id: ID!, input: UserInput!): UserPayload!',
    'updateWebhook(expectedRevision: String, id: ID!, input: WebhookInput!): WebhookPayload!',
    'withdrawFirmwareImage(id: ID!): FirmwareImagePayload!',
  ],
  Subscription: [
    'alertChanged(filter: AlertFilter): Alert!',
    'desiredStateChanged(id: ID!): DesiredState!',
    'deviceChanged(filter: DeviceFilter): Device!',
    'deviceListChanged(filter: DeviceFilter): DeviceListChange!',
    'eventAdded(filter: EventFilter): EventEdge!',
    'jobProgress(jobId: ID!): Job!',
    'jobTargetsDecided(jobId: ID!): [JobTarget!]!',
    'sessionLog(deviceId: ID!): SessionLogEntry!',
  ],
} as const;

describe('the served schema', () => {
  let api: OpenApi;

  beforeAll(async () => {
    api = await openApi();
  });
  afterAll(() => api.close());

  it('is schema.graphql', async () => {
    const { data } = await api.ask(getIntrospectionQuery());
    const served = buildClientSchema(data as IntrospectionQuery);
    expect(printSchema(lexicographicSortSchema(served))).toBe(printSchema(lexicographicSortSchema(contract)));
  });

  it.each(Object.keys(operations) as (keyof typeof operations)[])('keeps the operations of %s', (root) => {
    expect(fieldsOf(contract, root)).toEqual(operations[root]);
  });

  it('describes each type, query, mutation and subscription in sentences', () => {
    const described = Object.values(contract.getTypeMap()).flatMap((type) => {
      if (isIntrospectionType(type)) return [];
      const members = isEnumType(type)
        ? type.getValues()
        : isObjectType(type) || isInputObjectType(type)
          ? Object.values(type.getFields())
          : [];
      const own = { name: type.name, description: type.description };
      return [own, ...members.map(({ name, description }) => ({ name: `${type.name}.${name}`, description }))];
    });
    const unfinished = described.filter(({ description }) => description && !/^[A-Z`].*\.$/s.test(description));
    expect(unfinished).toEqual([]);
    const needed = described.filter(({ name }) => /^(Query|Mutation|Subscription)\./.test(name));
    expect(needed.filter(({ description }) => !description)).toEqual([]);
  });
});

function fieldsOf(schema: GraphQLSchema, root: string): readonly string[] {
  const type = lexicographicSortSchema(schema).getType(root);
  if (!isObjectType(type)) throw new TypeError(`The schema has no type ${root}.`);
  return Object.values(type.getFields()).map(({ name, args, type: answer }) => {
    const list = args.map((arg) => `${arg.name}: ${String(arg.type)}`).join(', ');
    return `${name}${list && `(${list})`}: ${String(answer)}`;
  });
}
