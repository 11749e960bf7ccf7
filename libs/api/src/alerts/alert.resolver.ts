import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { summaryOf, type AlertLanguage } from '@flotilla/signals';
import type { AlertFilter as StoredFilter, AlertRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { ALERTS, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, pageSize, toConnection } from '../connection.js';
import { withoutNulls } from '../devices/device-filter-input.js';
import { userErrors } from '../errors/user-errors.js';
import { ApiError } from '../errors/api-error.js';
import type { AlertOperations } from '../fleet-operations.js';
import type {
  AlertDevicesArgs,
  AlertFilter,
  AlertSummaryArgs,
  Language,
  MutationAcknowledgeAlertArgs,
  QueryAlertArgs,
  QueryAlertsArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

const languages: Readonly<Record<Language, AlertLanguage>> = { EN: 'en', ZH: 'zh' };

/** Alerts. A scoped key sees those whose devices are all in its scope. */
@Resolver('Alert')
export class AlertResolver
  implements
    Serves<'Query', 'alert' | 'alerts'>,
    Serves<'Alert', 'rule' | 'state' | 'device' | 'devices' | 'summary'>,
    Serves<'Mutation', 'acknowledgeAlert'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(ALERTS) private readonly alertOperations: AlertOperations,
  ) {}

  @Query()
  alert(_root: unknown, { id }: QueryAlertArgs, { viewer }: ApiContext) {
    return this.registry.alerts.find(id, viewer.devices);
  }

  @Query()
  async alerts(_root: unknown, args: QueryAlertsArgs, context: ApiContext) {
    const filter = alertFilterOf(args.filter, context);
    const request = pageRequest(args);
    const { alerts } = this.registry;
    const [page, totalCount] = await Promise.all([alerts.page(filter, request), alerts.count(filter)]);
    return Object.assign(toConnection(page), { totalCount });
  }

  @Mutation()
  async acknowledgeAlert(_root: unknown, { id, note }: MutationAcknowledgeAlertArgs, context: ApiContext) {
    const answer = await this.alertOperations.acknowledge(id, note ?? undefined, actorOf(context));
    return 'refusal' in answer ? { userErrors: userErrors(answer.refusal) } : { ...answer, userErrors: [] };
  }

  @ResolveField()
  async rule({ ruleId }: AlertRow, _args: unknown, { loaders }: ApiContext) {
    const rule = await loaders.alertRule.load(ruleId);
    if (rule === undefined) throw new ApiError('NOT_FOUND', 'The rule of this alert was removed.');
    return rule;
  }

  @ResolveField()
  state({ resolvedAt }: AlertRow) {
    return resolvedAt === undefined ? 'FIRING' : 'RESOLVED';
  }

  @ResolveField()
  async device({ deviceId }: AlertRow, _args: unknown, { loaders }: ApiContext) {
    return deviceId === undefined ? undefined : loaders.device.load(deviceId);
  }

  @ResolveField()
  async devices({ id }: AlertRow, { first }: AlertDevicesArgs, { loaders }: ApiContext) {
    const ids = await loaders.alertDevices(id, pageSize(first, 50));
    const rows = await Promise.all(ids.map((deviceId) => loaders.device.load(deviceId)));
    return rows.filter((row) => row !== undefined);
  }

  @ResolveField()
  summary(alert: AlertRow, { language }: AlertSummaryArgs) {
    const { messages } = this.alertOperations;
    return summaryOf(alert, { ...messages, language: language ? languages[language] : messages.language });
  }
}

/** Limited to what the caller may see. */
export function alertFilterOf(filter: AlertFilter | null | undefined, { viewer }: ApiContext): StoredFilter {
  return { ...withoutNulls(filter ?? {}), within: viewer.devices };
}
