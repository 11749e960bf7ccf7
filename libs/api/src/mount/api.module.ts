/** Nest's wiring: the served schema, Mercurius in front of it, and what the resolvers are given. */
import { readFileSync } from 'node:fs';
import { Module, type DynamicModule } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import {
  ALERTS,
  DEVICE_SETTINGS,
  FEED,
  FIRMWARE,
  SIGNING_KEYS,
  TIME_ZONE,
  FLEET,
  GRANTS,
  LIMITS,
  LOGGER,
  PEOPLE,
  MOVING,
  PROVISIONING,
  REGISTRY,
  SCREENS,
  WEBHOOKS,
  fleetWide,
  type ApiDeps,
  type DeviceSettings,
} from '../api-deps.js';
import { dateTimeScalar } from '../scalars/date-time.scalar.js';
import { guardScopes } from '../access/guard-scopes.js';
import type { HttpOperations } from './http-operations.js';
import { jsonScalar } from '../scalars/json.scalar.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { boundTime } from '../limits/bound-time.js';
import type { Admission } from '../limits/admission.js';
import { AlertResolver } from '../alerts/alert.resolver.js';
import { DeviceAlertsResolver } from '../alerts/device-alerts.resolver.js';
import { AlertRuleResolver } from '../alerts/alert-rule.resolver.js';
import { ChannelResolver } from '../alerts/channel.resolver.js';
import { ApiKeyResolver } from '../people/api-key.resolver.js';
import { AuditResolver } from '../people/audit.resolver.js';
import { CallResolver } from '../calls/call.resolver.js';
import { DesiredStateResolver } from '../desired-states/desired-state.resolver.js';
import { DesiredStateTargetResolver } from '../desired-states/desired-state-target.resolver.js';
import { DeviceMutationsResolver } from '../devices/device-mutations.resolver.js';
import { DeviceGroupMutationsResolver } from '../devices/device-group-mutations.resolver.js';
import { DeviceGroupResolver } from '../devices/device-group.resolver.js';
import { DeviceListResolver } from '../devices/device-list.resolver.js';
import { DeviceResolver } from '../devices/device.resolver.js';
import { BlockedBoardResolver } from '../provisioning/blocked-board.resolver.js';
import { MovingBoardResolver } from '../provisioning/moving-board.resolver.js';
import { EnrolmentResolver } from '../provisioning/enrolment.resolver.js';
import { ManyDevicesResolver } from '../provisioning/many-devices.resolver.js';
import { EventResolver } from '../events/event.resolver.js';
import { FirmwareResolver } from '../firmware/firmware.resolver.js';
import { SigningKeyResolver } from '../firmware/signing-key.resolver.js';
import { JobMutationsResolver } from '../jobs/job-mutations.resolver.js';
import { AppliedConfigurationResolver } from '../configuration/applied-configuration.resolver.js';
import { DeviceMeasurementResolver, MeasurementResolver } from '../measurements/measurement.resolver.js';
import { RecurringJobResolver } from '../jobs/recurring-job.resolver.js';
import { JobTargetResolver } from '../jobs/job-target.resolver.js';
import { JobPreviewResolver } from '../jobs/job-preview.resolver.js';
import { JobListResolver } from '../jobs/job-list.resolver.js';
import { JobResolver } from '../jobs/job.resolver.js';
import { SubscriptionResolver } from '../subscriptions/subscription.resolver.js';
import { ProvisioningMutationsResolver } from '../provisioning/provisioning-mutations.resolver.js';
import { ToolResultResolver } from '../calls/tool-result.resolver.js';
import { ToolPolicyMutationsResolver } from '../calls/tool-policy-mutations.resolver.js';
import { FleetSummaryResolver } from '../devices/fleet-summary.resolver.js';
import { HubStatusResolver } from '../events/hub-status.resolver.js';
import { ReadbackResolver, ToolPolicyResolver } from '../calls/tool-policy.resolver.js';
import { FleetToolResolver, ToolResolver } from '../calls/tool.resolver.js';
import { AgentGrantResolver } from '../people/agent-grant.resolver.js';
import { UserResolver } from '../people/user.resolver.js';
import { UploadResolver } from '../uploads/upload.resolver.js';
import { ViewerResolver } from '../people/viewer.resolver.js';
import { WebhookResolver } from '../events/webhook.resolver.js';

/** Beside `src` and `dist` alike. */
const servedSchema = new URL('../../schema.graphql', import.meta.url);
/**
 * Compiles a query when it comes for the second time: programs repeat their queries, people do not.
 */
const jitAfter = 1;

const unknownSettings: DeviceSettings = { describeCredential: () => undefined, otaUrl: () => undefined };

const resolvers = [
  ViewerResolver,
  DeviceListResolver,
  DeviceResolver,
  DeviceMutationsResolver,
  DeviceGroupResolver,
  DeviceGroupMutationsResolver,
  ProvisioningMutationsResolver,
  EnrolmentResolver,
  BlockedBoardResolver,
  MovingBoardResolver,
  ManyDevicesResolver,
  ToolResolver,
  FleetSummaryResolver,
  FleetToolResolver,
  HubStatusResolver,
  ToolPolicyMutationsResolver,
  ToolResultResolver,
  CallResolver,
  EventResolver,
  AuditResolver,
  ApiKeyResolver,
  AgentGrantResolver,
  FirmwareResolver,
  SigningKeyResolver,
  JobListResolver,
  JobResolver,
  JobMutationsResolver,
  JobPreviewResolver,
  RecurringJobResolver,
  DesiredStateResolver,
  DesiredStateTargetResolver,
  ReadbackResolver,
  ToolPolicyResolver,
  AppliedConfigurationResolver,
  MeasurementResolver,
  DeviceMeasurementResolver,
  JobTargetResolver,
  SubscriptionResolver,
  UploadResolver,
  WebhookResolver,
  AlertResolver,
  DeviceAlertsResolver,
  AlertRuleResolver,
  ChannelResolver,
  UserResolver,
];

@Module({})
export class ApiModule {
  static over(
    deps: ApiDeps,
    limits: ApiLimits,
    { http, admission }: { http: HttpOperations; admission: Admission },
  ): DynamicModule {
    const given = [
      { provide: REGISTRY, useValue: fleetWide(deps.registry) },
      { provide: FLEET, useValue: deps.fleet },
      { provide: PROVISIONING, useValue: deps.provisioning },
      { provide: MOVING, useValue: deps.moving },
      { provide: FIRMWARE, useValue: deps.firmware },
      { provide: SIGNING_KEYS, useValue: deps.signingKeys },
      { provide: PEOPLE, useValue: deps.people },
      { provide: GRANTS, useValue: deps.grants },
      { provide: SCREENS, useValue: deps.screens },
      { provide: WEBHOOKS, useValue: deps.webhooks },
      { provide: ALERTS, useValue: deps.alerts },
      { provide: DEVICE_SETTINGS, useValue: deps.deviceSettings ?? unknownSettings },
      { provide: TIME_ZONE, useValue: deps.timeZone },
      { provide: FEED, useValue: deps.feed },
      { provide: LOGGER, useValue: deps.logger },
      { provide: LIMITS, useValue: limits },
    ];
    return {
      module: ApiModule,
      imports: [GraphQLModule.forRoot<MercuriusDriverConfig>(mercuriusOptions(limits, http, admission))],
      providers: [...given, ...resolvers],
    };
  }
}

/** Mercurius serves only HTTP; subscriptions/subscription-server.ts serves WebSocket. */
function mercuriusOptions(limits: ApiLimits, http: HttpOperations, admission: Admission): MercuriusDriverConfig {
  return {
    driver: MercuriusDriver,
    typeDefs: readFileSync(servedSchema, 'utf8'),
    resolvers: { DateTime: dateTimeScalar, JSON: jsonScalar, UserErrors: { __resolveType: () => undefined } },
    transformSchema: (schema) => boundTime(guardScopes(schema), limits.operationMsMax),
    subscription: false,
    graphiql: false,
    allowBatchedQueries: false,
    jit: jitAfter,
    validationRules: [...admission.validationRules],
    graphql: { parseOptions: { maxTokens: limits.queryTokensMax } },
    context: http.context,
    errorFormatter: http.formatErrors,
    additionalRouteOptions: http.routeOptions,
  };
}
