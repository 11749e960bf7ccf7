/** `flotilla groups`: saved device filters. */
import { expectAccepted } from '@flotilla/client';
import type { DeviceFilter } from '@flotilla/client/schema';
import { withClient } from '../../connection.js';
import { printChange } from '../../console/output.js';
import { requiredDeviceFilter, selectsDevices, withDevices } from '../../options/device-filter.js';
import { found } from '../../found.js';
import {
  CreateDeviceGroupDocument,
  DeleteDeviceGroupDocument,
  DeviceGroupDocument,
  DeviceGroupsDocument,
  UpdateDeviceGroupDocument,
} from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { given, textOption, withId } from '../../options/shared-options.js';

const aGroup = '01990000-0000-7000-8000-00000000000a';

const settings = {
  'time-zone': textOption('IANA time zone for devices that have none; an empty text removes it'),
  'voice-url': textOption('Voice servers for devices that have none; an empty text removes them'),
} as const;

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List device groups',
  examples: ['groups'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => eachNode(async (page) => (await client.request(DeviceGroupsDocument, page)).deviceGroups),
      ['id', 'name', { key: 'deviceCount', head: 'DEVICES' }, 'filter', 'timeZone'],
      args,
    ),
});

const createCommand = leaf({
  usage: 'create <name>',
  summary: 'Create a group of the devices that match the options',
  examples: ['groups create Lobby --tag lobby --time-zone Europe/Berlin'],
  options: (args) => withDevices(args).positional('name', { type: 'string', demandOption: true }).options(settings),
  run: (args) => {
    const input = { name: args.name, filter: requiredDeviceFilter(args), ...settingsOf(args) };
    return withClient(args, async (client) => {
      const { createDeviceGroup } = await client.request(CreateDeviceGroupDocument, { input });
      await printChange({ ...expectAccepted(createDeviceGroup).deviceGroup }, args);
    });
  },
});

const editCommand = hubLeaf({
  usage: 'edit <id>',
  summary: 'Change the name, filter, time zone or voice servers of a group',
  examples: [`groups edit ${aGroup} --name "Lobby and bar" --filter '{"any":[{"tags":["lobby"]},{"tags":["bar"]}]}'`],
  notes: 'Options that select devices replace the whole filter. It fails if another person changed it in the meantime.',
  options: (args) =>
    withDevices(withId(args, 'Id of the group')).option('name', textOption('New name')).options(settings),
  run: async (args, client) => {
    const { id, name } = args;
    const now = found((await client.request(DeviceGroupDocument, { id })).deviceGroup, 'Group', id);
    const input = {
      name: now.name,
      // The API returns the filter as it was given: the shape of its input.
      filter: selectsDevices(args) ? requiredDeviceFilter(args) : (now.filter as DeviceFilter),
      timeZone: now.timeZone,
      voiceUrl: now.voiceUrl,
      ...given({ name }),
      ...settingsOf(args),
    };
    const variables = { id, input, revision: now.revision };
    const { updateDeviceGroup } = await client.request(UpdateDeviceGroupDocument, variables);
    await printChange({ ...expectAccepted(updateDeviceGroup).deviceGroup }, args);
  },
});

function settingsOf(args: { readonly timeZone?: string | undefined; readonly voiceUrl?: string | undefined }) {
  const { timeZone, voiceUrl } = args;
  return given({
    timeZone: timeZone === '' ? null : timeZone,
    voiceUrl: voiceUrl === '' ? null : voiceUrl,
  });
}

const deleteCommand = hubLeaf({
  usage: 'delete <id>',
  summary: 'Delete a group; its devices stay',
  examples: [`groups delete ${aGroup} --yes`],
  options: (args) => withId(args, 'Id of the group'),
  question: (args) => `The group ${args.id} will be deleted; its devices stay.`,
  run: async (args, client) => {
    const { deleteDeviceGroup } = await client.request(DeleteDeviceGroupDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(deleteDeviceGroup).deviceGroupId }, args);
  },
});

export const groupsCommand = group('groups', 'List and change device groups', [
  listCommand,
  createCommand,
  editCommand,
  deleteCommand,
]);
