/** Writes the resolver types of libs/api from schema.graphql. The output is not committed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptResolvers from '@graphql-codegen/typescript-resolvers';
import { parse } from 'graphql';

const api = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../libs/api');
const output = path.join(api, 'src/generated/schema-types.ts');

/** The types that resolvers return for a GraphQL type: mostly rows of the registry. */
const mappers = {
  Alert: '@flotilla/registry#AlertRow',
  AlertRule: '@flotilla/registry#AlertRuleRow',
  AuditEntry: '@flotilla/registry#AuditEntryRow',
  BlockedBoard: '@flotilla/registry#BlockedBoardRow',
  NotificationChannel: '@flotilla/registry#ChannelRow',
  Call: '@flotilla/registry#CallRow',
  Device: '@flotilla/registry#DeviceRow',
  DeviceConnection: '../connection.js#DeviceConnectionSource',
  AgentGrant: '@flotilla/registry#ListedGrant',
  ApiKey: '@flotilla/registry#ApiKeyRow',
  DeviceGroup: '@flotilla/registry#DeviceGroupRow',
  DesiredState: '@flotilla/registry#DesiredStateRow',
  DesiredStateTarget: '@flotilla/registry#DesiredTargetRow',
  AppliedConfiguration: '@flotilla/registry#AppliedConfigurationRow',
  RecordingRule: '@flotilla/registry#RecordingRuleRow',
  MeasurementSeries: '@flotilla/registry#Series',
  FirmwareHealth: '@flotilla/fleet#FirmwareHealthRow',
  RecurringJob: '@flotilla/registry#RecurringJobRow',
  Readback: '@flotilla/jobs#Readback as ReadbackSource',
  DeviceSession: '@flotilla/registry#SessionRow',
  Enrolment: '@flotilla/registry#EnrolmentRow',
  EnrolmentLink: '@flotilla/registry#EnrolmentLinkRow',
  Event: '@flotilla/registry#EventRow',
  FleetSummary: '../devices/fleet-summary.resolver.js#FleetSummarySource',
  FleetTool: '@flotilla/registry#FleetToolRow',
  Job: '@flotilla/jobs#Job as JobSource',
  JobConnection: '../connection.js#JobConnectionSource',
  JobPreview: '../jobs/job-preview.js#ShownPreview',
  ImageDownload: '@flotilla/registry#DownloadRow',
  JobTarget: '../jobs/job-target.resolver.js#TargetOfJob',
  Tool: '@flotilla/registry#StoredTool',
  ToolPolicy: '@flotilla/jobs#ToolPolicy as ToolPolicySource',
  ToolResult: '@flotilla/mcp#ToolResult as ToolResultSource',
  ToolSetUse: '@flotilla/registry#ToolSetUseRow',
  Upload: '@flotilla/registry#UploadRow',
  VoiceServer: '@flotilla/registry#VoiceServerRow',
  Webhook: '@flotilla/registry#WebhookRow',
  WebhookDelivery: '@flotilla/registry#WebhookDeliveryRow',
};

const config = {
  contextType: '../api-context.js#ApiContext',
  mappers,
  enumsAsTypes: true,
  immutableTypes: true,
  useTypeImports: true,
  makeResolverTypeCallable: true,
  maybeValue: 'T | null | undefined',
  inputMaybeValue: 'T | null | undefined',
  strictScalars: true,
  scalars: { DateTime: 'number', JSON: 'unknown' },
};

const source = await codegen({
  filename: output,
  schema: parse(readFileSync(path.join(api, 'schema.graphql'), 'utf8')),
  documents: [],
  config,
  pluginMap: { typescript, typescriptResolvers },
  plugins: [{ typescript: {} }, { typescriptResolvers: {} }],
});

if (!existsSync(output) || readFileSync(output, 'utf8') !== source) {
  mkdirSync(path.dirname(output), { recursive: true });
  writeFileSync(output, source);
}
