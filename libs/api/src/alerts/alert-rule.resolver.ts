import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { SavedAlertRule } from '@flotilla/fleet';
import type { AlertRulePlan, AlertRuleRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { ALERTS, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { parseDeviceFilter, showDeviceFilter } from '../devices/device-filter-input.js';
import { userErrors } from '../errors/user-errors.js';
import type { AlertOperations } from '../fleet-operations.js';
import type {
  AlertRuleInput,
  MutationCreateAlertRuleArgs,
  MutationDeleteAlertRuleArgs,
  MutationSnoozeAlertRuleArgs,
  MutationUpdateAlertRuleArgs,
  QueryPreviewAlertRuleArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Rules of alerts. A scoped key sees neither their devices nor their channels. */
@Resolver('AlertRule')
export class AlertRuleResolver
  implements
    Serves<'Query', 'alertRules' | 'previewAlertRule'>,
    Serves<'AlertRule', 'channels' | 'devices' | 'firingCount' | 'pristine'>,
    Serves<'Mutation', 'createAlertRule' | 'updateAlertRule' | 'deleteAlertRule' | 'snoozeAlertRule'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(ALERTS) private readonly alerts: AlertOperations,
  ) {}

  @Query()
  alertRules() {
    return this.registry.alertRules.all();
  }

  @Query()
  async previewAlertRule(_root: unknown, { input }: QueryPreviewAlertRuleArgs) {
    const answer = await this.alerts.previewRule(planOf(input));
    if ('refusal' in answer) return { since: Date.now(), userErrors: userErrors(answer.refusal) };
    return { ...answer.preview, userErrors: [] };
  }

  @Mutation()
  async createAlertRule(_root: unknown, { input }: MutationCreateAlertRuleArgs, context: ApiContext) {
    return toPayload(await this.alerts.createRule(planOf(input), actorOf(context)));
  }

  @Mutation()
  async updateAlertRule(
    _root: unknown,
    { id, input, expectedRevision }: MutationUpdateAlertRuleArgs,
    context: ApiContext,
  ) {
    const plan = planOf(input);
    return toPayload(await this.alerts.updateRule(id, plan, actorOf(context), expectedRevision ?? undefined));
  }

  @Mutation()
  async deleteAlertRule(_root: unknown, { id }: MutationDeleteAlertRuleArgs, context: ApiContext) {
    const { refusal } = await this.alerts.removeRule(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { deletedId: id, userErrors: [] };
  }

  @Mutation()
  async snoozeAlertRule(_root: unknown, { id, deviceId, until }: MutationSnoozeAlertRuleArgs, context: ApiContext) {
    return toPayload(await this.alerts.snoozeRule(id, deviceId ?? undefined, until, actorOf(context)));
  }

  @ResolveField()
  devices({ devices }: AlertRuleRow, _args: unknown, { viewer }: ApiContext) {
    return devices === undefined || viewer.devices !== undefined ? undefined : showDeviceFilter(devices);
  }

  @ResolveField()
  async channels({ channelIds }: AlertRuleRow, _args: unknown, { loaders, viewer }: ApiContext) {
    if (viewer.devices !== undefined) return [];
    const channels = await loaders.channels();
    return channels.filter(({ id }) => channelIds.includes(id));
  }

  @ResolveField()
  pristine({ shippedAs, createdAt, updatedAt }: AlertRuleRow) {
    return shippedAs !== undefined && createdAt === updatedAt;
  }

  @ResolveField()
  firingCount({ id }: AlertRuleRow, _args: unknown, { loaders, viewer }: ApiContext) {
    if (viewer.devices === undefined) return loaders.firingAlerts.load(id);
    return this.registry.alerts.count({ ruleId: id, state: 'FIRING', within: viewer.devices });
  }
}

/** With the defaults of the schema where null was given. */
function planOf(input: AlertRuleInput): AlertRulePlan {
  const { name, kind, channelIds } = input;
  return {
    name,
    kind,
    channelIds,
    devices: parseDeviceFilter(input.devices),
    severity: input.severity ?? 'WARNING',
    forSeconds: input.forSeconds ?? 300,
    threshold: input.threshold ?? undefined,
    path: input.path ?? undefined,
    below: input.below ?? false,
    windowSeconds: input.windowSeconds ?? 600,
    groupAbove: input.groupAbove ?? 5,
    repeatEverySeconds: input.repeatEverySeconds ?? undefined,
    enabled: input.enabled ?? true,
  };
}

function toPayload(saved: SavedAlertRule) {
  return 'refusal' in saved ? { userErrors: userErrors(saved.refusal) } : { alertRule: saved.rule, userErrors: [] };
}
