/** `flotilla channels`: where messages about alerts go. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import type { NotificationChannelKind } from '@flotilla/client/schema';
import { confirm, yesOption } from '../../console/confirm.js';
import { printChange, say } from '../../console/output.js';
import { printable } from '../../console/printable.js';
import { exitCodes } from '../../exit-codes.js';
import { found } from '../../found.js';
import {
  AlertRulesDocument,
  CreateNotificationChannelDocument,
  DeleteNotificationChannelDocument,
  NotificationChannelsDocument,
  TestNotificationChannelDocument,
  UpdateNotificationChannelDocument,
} from '../../generated/operations.js';
import { jsonObject, readStandardInput, standardInput } from '../../json-input.js';
import { textOption, withId } from '../../options/shared-options.js';
import { group, hubLeaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';

const aChannel = '01990000-0000-7000-8000-00000000000f';
const kinds: readonly NotificationChannelKind[] = [
  'EMAIL',
  'SLACK',
  'TELEGRAM',
  'DINGTALK',
  'FEISHU',
  'WECOM',
  'WEBHOOK',
];
const CONFIG_BYTES_MAX = 64 * 1_024;

const configOption = textOption('Settings as JSON; - reads them from standard input, away from the shell history');

const enabledOption = { type: 'boolean', describe: 'Send messages; --no-enabled: send none' } as const;

const channels = async (client: FlotillaClient) =>
  (await client.request(NotificationChannelsDocument)).notificationChannels;

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List channels',
  examples: ['channels'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => rowsOf(channels(client)),
      ['id', 'name', 'kind', 'config', 'enabled', 'failingSince', 'lastError'],
      args,
    ),
});

const createCommand = hubLeaf({
  usage: 'create <name>',
  summary: 'Create a channel',
  examples: [
    `channels create "On call" --kind EMAIL --config '{"to":["ops@example.com"]}'`,
    `channels create Chat --kind SLACK --config '{"url":"https://hooks.slack.com/services/T0/B0/x"}'`,
  ],
  notes: 'docs/alerts.md has the settings of each kind.',
  options: (args) =>
    args
      .positional('name', { type: 'string', demandOption: true, describe: 'Name of the channel' })
      .option('kind', { choices: kinds, demandOption: true, describe: 'How it sends' })
      .option('config', { ...configOption, demandOption: true })
      .option('enabled', enabledOption),
  run: async (args, client) => {
    const { enabled = true, kind, name } = args;
    const input = { name, kind, config: await configOf(args.config), enabled };
    const { createNotificationChannel } = await client.request(CreateNotificationChannelDocument, { input });
    await printChange({ ...expectAccepted(createNotificationChannel).notificationChannel }, args);
  },
});

const editCommand = hubLeaf({
  usage: 'edit <id>',
  summary: 'Change a channel',
  examples: [`channels edit ${aChannel} --name "Night shift"`, `channels edit ${aChannel} --no-enabled`],
  notes: 'It fails if another person changed it in the meantime.',
  options: (args) =>
    withId(args, 'Id of the channel')
      .option('name', textOption('New name'))
      .option('config', configOption)
      .option('enabled', enabledOption),
  run: async (args, client) => {
    const { id } = args;
    const now = found(
      (await channels(client)).find((channel) => channel.id === id),
      'Notification channel',
      id,
    );
    const config = args.config === undefined ? now.config : await configOf(args.config);
    const input = { name: args.name ?? now.name, kind: now.kind, config, enabled: args.enabled ?? now.enabled };
    const variables = { id, input, revision: now.revision };
    const { updateNotificationChannel } = await client.request(UpdateNotificationChannelDocument, variables);
    await printChange({ ...expectAccepted(updateNotificationChannel).notificationChannel }, args);
  },
});

const testCommand = hubLeaf({
  usage: 'test <id>',
  summary: 'Send a test message, and show what the other end answered',
  examples: [`channels test ${aChannel}`],
  options: (args) => withId(args, 'Id of the channel'),
  run: async (args, client) => {
    const { testNotificationChannel } = await client.request(TestNotificationChannelDocument, { id: args.id });
    const { delivered, response, status } = expectAccepted(testNotificationChannel);
    await printChange({ delivered, status, response }, args);
    return delivered ? exitCodes.done : exitCodes.refused;
  },
});

const deleteCommand = hubLeaf({
  usage: 'delete <id>',
  summary: 'Delete a channel; rules no longer use it',
  examples: [`channels delete ${aChannel} --yes`],
  options: (args) => withId(args, 'Id of the channel').options(yesOption),
  run: async (args, client) => {
    const left = await rulesWithout(client, args.id);
    const warning = left.length === 0 ? '' : ` These rules have no other channel: ${left.join(', ')}.`;
    if (!(await confirm(`The channel ${args.id} will receive no more messages.${warning}`, args)))
      return exitCodes.refused;
    if (args.yes === true && warning !== '') say(warning.trim());
    const { deleteNotificationChannel } = await client.request(DeleteNotificationChannelDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(deleteNotificationChannel).deletedId }, args);
    return exitCodes.done;
  },
});

/** The names of the rules that would have no channel left. */
async function rulesWithout(client: FlotillaClient, channelId: string): Promise<readonly string[]> {
  const { alertRules } = await client.request(AlertRulesDocument);
  return alertRules
    .filter(({ channels: used }) => used.length > 0 && used.every(({ id }) => id === channelId))
    .map(({ name }) => printable(name));
}

async function configOf(typed: string): Promise<Readonly<Record<string, unknown>>> {
  const isPiped = typed === '' || typed === '-' || typed === standardInput;
  return jsonObject(isPiped ? await readStandardInput(CONFIG_BYTES_MAX) : typed, '--config');
}

export const channelsCommand = group('channels', 'List, change and test the channels of alerts', [
  listCommand,
  createCommand,
  editCommand,
  testCommand,
  deleteCommand,
]);
