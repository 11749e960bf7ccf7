/** Alert rules, by name. Their channels and groups are named by name. */
import { expectAccepted } from '@flotilla/client';
import type { AlertRuleInput } from '@flotilla/client/schema';
import { UsageError } from '../../exit-codes.js';
import {
  AlertRulesDocument,
  CreateAlertRuleDocument,
  DeleteAlertRuleDocument,
  UpdateAlertRuleDocument,
} from '../../generated/operations.js';
import { filterSchema, filterWithIds, filterWithNames } from '../filter-references.js';
import { withoutNull, type Fields, type Kind, type KindContext, type Live, type References } from '../kind.js';

const seconds = { type: 'integer' } as const;

export const alertRules: Kind = {
  kind: 'AlertRule',
  nameIs: 'name of the rule',
  fields: {
    kind: { type: 'string', description: 'An AlertKind of the API, such as DEVICE_OFFLINE.' },
    devices: filterSchema,
    severity: { enum: ['INFO', 'WARNING', 'CRITICAL'] },
    forSeconds: seconds,
    threshold: { type: ['number', 'null'] },
    path: { type: ['string', 'null'], description: 'Of MEASUREMENT: the path of the value.' },
    below: { type: 'boolean' },
    windowSeconds: seconds,
    groupAbove: { type: 'integer' },
    repeatEverySeconds: { type: ['integer', 'null'] },
    channels: { type: 'array', items: { type: 'string' }, description: 'Names of NotificationChannels.' },
    enabled: { type: 'boolean' },
  },
  required: ['kind'],
  defaults: {
    ...{ severity: 'WARNING', forSeconds: 300, below: false, windowSeconds: 600, groupAbove: 5, channels: [] },
    enabled: true,
  },
  sets: ['channels'],
  async read({ client, references }) {
    const { alertRules: rules } = await client.request(AlertRulesDocument);
    return rules.map(({ id, name, devices, channels, pristine: isPristine, ...rule }) => {
      const { kind, severity, forSeconds, threshold, path, below, windowSeconds, groupAbove } = rule;
      const fields = {
        ...{ kind, severity, forSeconds, threshold, path, below, windowSeconds, groupAbove },
        ...{ repeatEverySeconds: rule.repeatEverySeconds, enabled: rule.enabled },
        devices: devices === null ? null : filterWithNames(devices, references),
        channels: channels.map((channel) => channel.name),
      };
      return { id, name, isPristine, fields: withoutNull(fields) };
    });
  },
  create,
  /** What a rule is about cannot be changed, so another kind makes a new rule. */
  async update(live, fields, context) {
    const { client, references } = context;
    if (fields['kind'] !== live.fields['kind']) {
      await remove(live, context);
      return create(live.name, fields, context);
    }
    const input = inputOf(live.name, fields, references);
    expectAccepted((await client.request(UpdateAlertRuleDocument, { id: live.id, input })).updateAlertRule);
  },
  remove,
};

async function remove({ id }: Pick<Live, 'id'>, { client }: KindContext): Promise<void> {
  expectAccepted((await client.request(DeleteAlertRuleDocument, { id })).deleteAlertRule);
}

async function create(name: string, fields: Fields, { client, references }: KindContext): Promise<void> {
  const input = inputOf(name, fields, references);
  expectAccepted((await client.request(CreateAlertRuleDocument, { input })).createAlertRule);
}

function inputOf(name: string, fields: Fields, references: References): AlertRuleInput {
  const { channels, devices, ...others } = fields;
  const channelIds = (Array.isArray(channels) ? channels : []).map((channel) => {
    const id = references.channels.get(String(channel));
    if (id === undefined)
      throw new UsageError(
        `There is no notification channel "${String(channel)}". Add it to the file as a NotificationChannel.`,
      );
    return id;
  });
  return {
    ...{ ...others, name, channelIds },
    ...(devices !== undefined && devices !== null && { devices: filterWithIds(devices, references) }),
  } as unknown as AlertRuleInput;
}
