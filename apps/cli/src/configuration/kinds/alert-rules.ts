/** Alert rules, by name. Their channels and groups are named by name. */
import { expectAccepted } from '@flotilla/client';
import type { AlertRuleInput } from '@flotilla/client/schema';
import { UsageError } from '../../exit-codes.js';
import {
  ConfiguredRulesDocument,
  CreateAlertRuleDocument,
  DeleteAlertRuleDocument,
  UpdateAlertRuleDocument,
} from '../../generated/operations.js';
import { ruleTerms } from '../../rule-terms.js';
import { filterSchema, filterWithIds, filterWithNames } from '../filter-references.js';
import { withoutNull, type Fields, type Kind, type KindContext, type Live, type References } from '../kind.js';

const seconds = { type: 'integer' } as const;

/** Fields that mean something else in a rule of another kind, or nothing. */
const ofKind: readonly string[] = ['path', 'threshold', 'below'];
/** Kinds that are not about devices. */
const hubKinds: readonly unknown[] = ['WEBHOOK_FAILING', 'HUB_UNHEALTHY'];

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
    severity: 'WARNING',
    forSeconds: 300,
    below: false,
    windowSeconds: 600,
    groupAbove: 5,
    channels: [],
    enabled: true,
  },
  sets: ['channels'],
  kept(live, { kind }) {
    if (live['kind'] === kind) return live;
    const ended = hubKinds.includes(kind) ? [...ofKind, 'devices'] : ofKind;
    return Object.fromEntries(Object.entries(live).filter(([name]) => !ended.includes(name)));
  },
  requireNamed: (fields, references) => void inputOf('', fields, references),
  async read({ client, references }) {
    const { alertRules: rules } = await client.request(ConfiguredRulesDocument);
    return rules.map(({ id, name, revision, devices, channels, pristine: isPristine, ...rule }) => {
      const fields = {
        ...ruleTerms(rule),
        devices: devices === null ? null : filterWithNames(devices, references),
        channels: channels.map((channel) => channel.name),
      };
      return { id, name, revision, isPristine, fields: withoutNull(fields) };
    });
  },
  async create(name, fields, context) {
    const left = await leftOver(name, fields, context);
    if (left === undefined) await createRule(name, fields, context);
    else await updateRule({ id: left, name, revision: null }, fields, context);
  },
  async update(live, fields, context) {
    const isOther = fields['kind'] !== live.fields['kind'];
    const id = isOther ? await replaceRule(live, fields, context) : live.id;
    const revision = isOther ? null : String(live.revision);
    await updateRule({ id, name: live.name, revision }, fields, context);
  },
  remove,
};

/**
 * A rule cannot become one of another kind. The new one has another name until the former one is
 * gone, so that a refusal loses nothing.
 */
async function replaceRule(live: Live, fields: Fields, context: KindContext): Promise<string> {
  const id =
    (await leftOver(live.name, fields, context)) ?? (await createRule(temporaryName(live.name), fields, context));
  await remove(live, context);
  return id;
}

/** A name has at most 100 characters. */
function temporaryName(name: string): string {
  return `${name.slice(0, 80)} (changing kind)`;
}

/** The id of the new rule, if an earlier `apply` ended before it had its name. */
async function leftOver(name: string, { kind }: Fields, { client }: KindContext): Promise<string | undefined> {
  const { alertRules: rules } = await client.request(ConfiguredRulesDocument);
  return rules.find((rule) => rule.name === temporaryName(name) && rule.kind === kind)?.id;
}

async function updateRule(
  { id, name, revision }: { readonly id: string; readonly name: string; readonly revision: string | null },
  fields: Fields,
  { client, references }: KindContext,
): Promise<void> {
  const variables = { id, input: inputOf(name, fields, references), revision };
  expectAccepted((await client.request(UpdateAlertRuleDocument, variables)).updateAlertRule);
}

async function remove({ id }: Pick<Live, 'id'>, { client }: KindContext): Promise<void> {
  expectAccepted((await client.request(DeleteAlertRuleDocument, { id })).deleteAlertRule);
}

async function createRule(name: string, fields: Fields, { client, references }: KindContext): Promise<string> {
  const input = inputOf(name, fields, references);
  const { alertRule } = expectAccepted((await client.request(CreateAlertRuleDocument, { input })).createAlertRule);
  return alertRule?.id ?? '';
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
    ...others,
    name,
    channelIds,
    ...(devices !== undefined && devices !== null && { devices: filterWithIds(devices, references) }),
  } as unknown as AlertRuleInput;
}
