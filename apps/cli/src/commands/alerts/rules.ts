/** `flotilla alerts rules`: what operators are alerted about. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import type { AlertKind, AlertRuleInput, DeviceFilter } from '@flotilla/client/schema';
import type { InferredOptionTypes } from 'yargs';
import type { ColumnLike } from '../../console/output-format.js';
import { printChange } from '../../console/output.js';
import { found } from '../../found.js';
import {
  AlertRulesDocument,
  CreateAlertRuleDocument,
  DeleteAlertRuleDocument,
  UpdateAlertRuleDocument,
  type AlertRuleRowFragment,
} from '../../generated/operations.js';
import { deviceFilter, deviceFilterOptions, selectsDevices } from '../../options/device-filter.js';
import { durationOption } from '../../options/duration-option.js';
import { intMax, numberOption } from '../../options/number-option.js';
import { given, listOption, textOption, withId } from '../../options/shared-options.js';
import { ruleTerms } from '../../rule-terms.js';
import { group, hubLeaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';

const aRule = '01990000-0000-7000-8000-00000000000e';
const aChannel = '01990000-0000-7000-8000-00000000000f';
const kinds: readonly AlertKind[] = [
  'DEVICE_OFFLINE',
  'FLEET_OFFLINE_SHARE',
  'CALL_FAILURE_RATIO',
  'MEASUREMENT',
  'UNEXPECTED_RESTARTS',
  'JOB_STOPPED',
  'DESIRED_STATE_OUT_OF_SYNC',
  'CREDENTIAL_REFUSED',
  'WEBHOOK_FAILING',
  'HUB_UNHEALTHY',
];

const columns: readonly ColumnLike<AlertRuleRowFragment>[] = [
  'id',
  'name',
  'kind',
  'severity',
  'forSeconds',
  'threshold',
  { key: 'channels', of: ({ channels }) => channels.map(({ name }) => name).join(', ') },
  'enabled',
  'snoozedUntil',
  { key: 'firingCount', head: 'FIRING' },
];

const ruleOptions = {
  severity: { choices: ['INFO', 'WARNING', 'CRITICAL'], describe: 'WARNING by default' },
  for: durationOption('for', 'How long the condition must hold, and be gone; 5m by default', { plain: 's' }),
  threshold: numberOption('threshold', 'A share (0 to 1), a count or a value', {
    min: -intMax,
    max: intMax,
    isFraction: true,
  }),
  path: textOption('MEASUREMENT: path of the value'),
  below: { type: 'boolean', describe: 'MEASUREMENT: fires below the threshold' },
  window: durationOption('window', 'Time over which ratios and counts are taken; 10m by default', { plain: 's' }),
  'group-above': numberOption('group-above', 'More devices than this at once are one alert; 5 by default', {
    min: 0,
    max: intMax,
  }),
  repeat: durationOption('repeat', 'Time after which the message is sent again', { plain: 's' }),
  channel: listOption('Id of a channel that receives messages'),
  enabled: { type: 'boolean', describe: 'Evaluate the rule; --no-enabled: stop' },
} as const;

type RuleArguments = Partial<InferredOptionTypes<typeof ruleOptions>>;

const rules = async (client: FlotillaClient) => (await client.request(AlertRulesDocument)).alertRules;

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List the rules',
  examples: ['alerts rules'],
  options: (args) => withListOptions(args),
  run: (args, client) => printList(() => rowsOf(rules(client)), columns, args),
});

const createCommand = hubLeaf({
  usage: 'create <name>',
  summary: 'Create a rule',
  examples: [
    `alerts rules create "Shop devices offline" --kind DEVICE_OFFLINE --tag shop --for 10m --channel ${aChannel}`,
    'alerts rules create "A fifth is offline" --kind FLEET_OFFLINE_SHARE --threshold 0.2',
  ],
  options: (args) =>
    args
      .positional('name', { type: 'string', demandOption: true, describe: 'Name of the rule' })
      .option('kind', { choices: kinds, demandOption: true, describe: 'What it looks at' })
      .options(ruleOptions)
      .options(deviceFilterOptions),
  run: async (args, client) => {
    const devices = selectsDevices(args, 'for a rule about all devices') ? deviceFilter(args) : undefined;
    const input = { name: args.name, kind: args.kind, channelIds: [], ...given({ devices }), ...changesOf(args) };
    const { createAlertRule } = await client.request(CreateAlertRuleDocument, { input });
    await printChange({ ...expectAccepted(createAlertRule).alertRule }, args);
  },
});

const editCommand = hubLeaf({
  usage: 'edit <id>',
  summary: 'Change a rule',
  examples: [`alerts rules edit ${aRule} --for 15m`, `alerts rules edit ${aRule} --no-enabled`],
  notes: 'Its devices change only if you select devices. It fails if another person changed it in the meantime.',
  options: (args) =>
    withId(args, 'Id of the rule')
      .option('name', textOption('New name'))
      .options(ruleOptions)
      .options(deviceFilterOptions),
  run: async (args, client) => {
    const { id, name } = args;
    const { channels, devices, ...former } = found(
      (await rules(client)).find((rule) => rule.id === id),
      'Alert rule',
      id,
    );
    // The API returns the filter as the shape of its input.
    const kept = (devices ?? undefined) as DeviceFilter | undefined;
    const input: AlertRuleInput = {
      name: former.name,
      ...ruleTerms(former),
      channelIds: channels.map((channel) => channel.id),
      ...given({ name, devices: selectsDevices(args) ? deviceFilter(args) : kept }),
      ...changesOf(args),
    };
    const variables = { id, input, revision: former.revision };
    const { updateAlertRule } = await client.request(UpdateAlertRuleDocument, variables);
    await printChange({ ...expectAccepted(updateAlertRule).alertRule }, args);
  },
});

const deleteCommand = hubLeaf({
  usage: 'delete <id>',
  summary: 'Delete a rule; its alerts stay in the history',
  examples: [`alerts rules delete ${aRule} --yes`],
  options: (args) => withId(args, 'Id of the rule'),
  question: (args) => `The alert rule ${args.id} will be deleted.`,
  run: async (args, client) => {
    const { deleteAlertRule } = await client.request(DeleteAlertRuleDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(deleteAlertRule).deletedId }, args);
  },
});

function changesOf(args: RuleArguments) {
  return given({
    severity: args.severity,
    forSeconds: args.for,
    threshold: args.threshold,
    path: args.path,
    below: args.below,
    windowSeconds: args.window,
    groupAbove: args['group-above'],
    repeatEverySeconds: args.repeat,
    channelIds: args.channel,
    enabled: args.enabled,
  });
}

export const rulesCommand = group('rules', 'List and change the rules of alerts', [
  listCommand,
  createCommand,
  editCommand,
  deleteCommand,
]);
