/** `flotilla devices edit`, `tag`, `remove`, `rotate` and `refresh-tools`. */
import { expectAccepted } from '@flotilla/client';
import { withClient } from '../../connection.js';
import { confirm, yesOption } from '../../console/confirm.js';
import { printChange } from '../../console/output.js';
import { printable } from '../../console/printable.js';
import { requiredDeviceFilter, withDevices } from '../../options/device-filter.js';
import { exitCodes, UsageError } from '../../exit-codes.js';
import {
  RefreshToolsDocument,
  RemoveDeviceDocument,
  RotateDeviceCredentialDocument,
  TagDevicesDocument,
  UpdateDeviceDocument,
} from '../../generated/operations.js';
import { hubLeaf, leaf } from '../command.js';
import { given, listOption, textOption, withId } from '../../options/shared-options.js';
import { transports } from './register.js';

const aDevice = '02:00:00:00:00:01';

export const editCommand = leaf({
  usage: 'edit <id>',
  values: ['device'],
  summary: 'Change the name, tags, transport, time zone or voice servers of a device',
  examples: [`devices edit ${aDevice} --name "Lobby left" --time-zone Europe/Berlin`],
  notes: 'An empty text removes the name, time zone or voice servers.',
  options: (args) =>
    withId(args, 'Id of the device')
      .option('name', textOption('New name'))
      .option('tag', listOption('Replaces all tags'))
      .option('transport', { choices: transports, requiresArg: true })
      .option('time-zone', textOption('IANA name, such as Europe/Berlin'))
      .option('voice-url', textOption('ws:// or wss:// addresses, separated by commas')),
  run: (args) => {
    const { name, tag: tags, transport, timeZone, voiceUrl } = args;
    const changes = given({
      name: orNull(name),
      tags,
      transport,
      timeZone: orNull(timeZone),
      voiceUrl: orNull(voiceUrl),
    });
    if (Object.keys(changes).length === 0)
      throw new UsageError('Nothing to change. Use --name, --tag, --transport, --time-zone or --voice-url.');
    return withClient(args, async (client) => {
      const { updateDevice } = await client.request(UpdateDeviceDocument, { input: { deviceId: args.id, ...changes } });
      await printChange({ ...expectAccepted(updateDevice).device }, args);
    });
  },
});

function orNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

export const tagCommand = leaf({
  usage: 'tag',
  summary: 'Add tags to many devices, or remove them',
  examples: [
    'devices tag --add lobby --remove storage --search "Lobby"',
    `devices tag --add spare --device ${aDevice}`,
  ],
  options: (args) =>
    withDevices(args).option('add', listOption('Tag to add')).option('remove', listOption('Tag to remove')),
  run: (args) => {
    const { add, remove } = args;
    if (add === undefined && remove === undefined) throw new UsageError('Nothing to change. Use --add or --remove.');
    const filter = requiredDeviceFilter(args);
    return withClient(args, async (client) => {
      const input = { filter, ...given({ add, remove }) };
      const { changedCount } = expectAccepted((await client.request(TagDevicesDocument, { input })).tagDevices);
      await printChange({ changedCount }, args);
    });
  },
});

export const removeCommand = hubLeaf({
  usage: 'remove <id>',
  values: ['device'],
  summary: 'Remove a device; its credential ends at once',
  examples: [`devices remove ${aDevice} --yes`],
  options: (args) => withId(args, 'Id of the device'),
  question: (args) => `${printable(args.id)} will be removed and disconnected.`,
  run: async (args, client) => {
    const { removeDevice } = await client.request(RemoveDeviceDocument, { deviceId: args.id });
    await printChange({ removedId: expectAccepted(removeDevice).deviceId }, args);
  },
});

export const rotateCommand = leaf({
  usage: 'rotate <id>',
  values: ['device'],
  summary: 'Give a device a new credential, and print it once',
  examples: [`devices rotate ${aDevice} --yes`],
  options: (args) => withId(args, 'Id of the device').options(yesOption),
  run: async (args) => {
    const grace = 'The old one works until the device uses the new one, for at most a day.';
    const question = `${printable(args.id)} gets a new credential. ${grace}`;
    if (!(await confirm(question, args))) return exitCodes.refused;
    return withClient(args, async (client) => {
      const answer = await client.request(RotateDeviceCredentialDocument, { deviceId: args.id });
      const { credential } = expectAccepted(answer.rotateDeviceCredential);
      await printChange({ deviceId: args.id, credential }, args);
    });
  },
});

export const refreshToolsCommand = hubLeaf({
  usage: 'refresh-tools <id>',
  values: ['device'],
  summary: 'Ask an online device for its tools again',
  examples: [`devices refresh-tools ${aDevice}`],
  options: (args) => withId(args, 'Id of the device'),
  run: async (args, client) => {
    const { refreshTools } = await client.request(RefreshToolsDocument, { deviceId: args.id });
    const { device } = expectAccepted(refreshTools);
    await printChange(device === null ? {} : { ...device, tools: device.tools.map(({ name }) => name) }, args);
  },
});
