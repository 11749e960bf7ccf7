/** `flotilla alerts`: what fires, and who takes care of it. */
import { expectAccepted } from '@flotilla/client';
import { withClient } from '../../connection.js';
import { formatOf, type ColumnLike } from '../../console/output-format.js';
import { printChange, printRows, printThing, say } from '../../console/output.js';
import { found } from '../../found.js';
import {
  AcknowledgeAlertDocument,
  AlertDetailsDocument,
  AlertsDocument,
  SnoozeAlertRuleDocument,
  type AlertRowFragment,
} from '../../generated/operations.js';
import { given, textOption, withId } from '../../options/shared-options.js';
import { futureTime, futureTimeOf } from '../../options/time-option.js';
import { eachNode } from '../../pages.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { rulesCommand } from './rules.js';

const anAlert = '01990000-0000-7000-8000-00000000000d';
const aRule = '01990000-0000-7000-8000-00000000000e';

const columns: readonly ColumnLike<AlertRowFragment>[] = [
  'id',
  'severity',
  'state',
  { key: 'rule', of: ({ rule }) => rule.name },
  'summary',
  'firedAt',
  'resolvedAt',
  'acknowledgedBy',
];

const listCommand = leaf({
  usage: 'list',
  isDefault: true,
  summary: 'List alerts, newest first',
  examples: ['alerts --firing', 'alerts --device kitchen-1'],
  options: (args) =>
    withListOptions(args)
      .option('firing', { type: 'boolean', describe: 'Only alerts that fire; --no-firing: only resolved ones' })
      .option('acknowledged', { type: 'boolean', describe: 'Only acknowledged ones; --no-acknowledged: only others' })
      .option('severity', { choices: ['INFO', 'WARNING', 'CRITICAL'], describe: 'Only this severity' } as const)
      .option('device', textOption('Only alerts about this device'))
      .option('rule', textOption('Only alerts of this rule, by its id')),
  run: (args) => {
    const { acknowledged, device: deviceId, firing, rule: ruleId, severity } = args;
    const state = firing === undefined ? undefined : firing ? ('FIRING' as const) : ('RESOLVED' as const);
    const filter = given({ state, acknowledged, severity, deviceId, ruleId });
    return withClient(args, (client) =>
      printList(
        () => eachNode(async (page) => (await client.request(AlertsDocument, { filter, ...page })).alerts),
        columns,
        args,
      ),
    );
  },
});

const showCommand = hubLeaf({
  usage: 'show <id>',
  summary: 'Show an alert and its devices',
  examples: [`alerts show ${anAlert}`],
  options: (args) => withId(args, 'Id of the alert'),
  run: async (args, client) => {
    const { alert } = await client.request(AlertDetailsDocument, { id: args.id });
    const { devices, rule, ...rest } = found(alert, 'Alert', args.id);
    const shown = { ...rest, rule: rule.name, ruleId: rule.id };
    const isTable = formatOf(args) === 'table' && args.columns === undefined;
    await printThing(isTable ? shown : { ...shown, devices }, args);
    if (isTable && devices.length > 0) await printRows(devices, ['id', 'name'], {});
    if (shown.deviceCount > devices.length) say(`${devices.length} of ${shown.deviceCount} devices are shown.`);
  },
});

const acknowledgeCommand = hubLeaf({
  usage: 'ack <id>',
  summary: 'Record that a person takes care of an alert',
  examples: [`alerts ack ${anAlert} --note "The shop is being rebuilt"`],
  options: (args) => withId(args, 'Id of the alert').option('note', textOption('A note for others')),
  run: async (args, client) => {
    const { id, note } = args;
    const { acknowledgeAlert } = await client.request(AcknowledgeAlertDocument, { id, ...given({ note }) });
    const { alert } = expectAccepted(acknowledgeAlert);
    await printChange(alert === null ? {} : { ...alert, rule: alert.rule.name }, args);
  },
});

const snoozeCommand = hubLeaf({
  usage: 'snooze <rule>',
  summary: 'Send no messages about a rule, or about one device under it, for a while',
  examples: [`alerts snooze ${aRule} --for 2h`, `alerts snooze ${aRule} --device kitchen-1 --for 7d`],
  notes: 'Alerts are still recorded. --for 0s ends the snooze.',
  options: (args) =>
    args
      .positional('rule', { type: 'string', demandOption: true, describe: 'Id of the rule' })
      .option('device', textOption('Only this device'))
      .option('for', {
        ...futureTime('for', 'How long, such as 2h or 7d, or until which time'),
        demandOption: true,
        coerce: (typed: unknown): string => futureTimeOf('for', typed, Date.now()),
      }),
  run: async (args, client) => {
    const variables = { id: args.rule, ...given({ deviceId: args.device }), until: args.for };
    const { snoozeAlertRule } = await client.request(SnoozeAlertRuleDocument, variables);
    const { alertRule } = expectAccepted(snoozeAlertRule);
    if (alertRule === null) return printChange({}, args);
    const { id, name, snoozedUntil } = alertRule;
    // The rule has only its own time, not that of one device under it.
    const until = args.device === undefined ? (snoozedUntil ?? args.for) : args.for;
    await printChange({ id, name, device: args.device ?? null, until }, args);
  },
});

export const alertsCommand = group('alerts', 'List and acknowledge alerts, and change their rules', [
  listCommand,
  showCommand,
  acknowledgeCommand,
  snoozeCommand,
  rulesCommand,
]);
