/** `flotilla devices`: the group, and what only reads. */
import type { ColumnLike } from '../../console/output-format.js';
import { formatOf } from '../../console/output-format.js';
import { printThing } from '../../console/output.js';
import { deviceFilter, deviceFilterOptions } from '../../options/device-filter.js';
import { found } from '../../found.js';
import { DeviceDetailsDocument, type DeviceDetailsQuery } from '../../generated/operations.js';
import { group, hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { withId } from '../../options/shared-options.js';
import { editCommand, refreshToolsCommand, removeCommand, rotateCommand, tagCommand } from './change.js';
import { removeManyCommand, setTransportCommand } from './many.js';
import { logCommand } from './log.js';
import { picturesCommand, showImageCommand, snapshotCommand } from './pictures.js';
import { addCommand, importCommand } from './register.js';

interface ShownDevice {
  readonly id: string;
  readonly name: string | null;
  readonly model: string | null;
  readonly firmwareVersion: string | null;
  readonly presence: string;
  readonly lastSeenAt: string | null;
  readonly tags: readonly string[];
}

const columns: readonly ColumnLike<ShownDevice>[] = [
  'id',
  'name',
  'model',
  { key: 'firmwareVersion', head: 'FIRMWARE' },
  'presence',
  'lastSeenAt',
  'tags',
];

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List devices',
  examples: ['devices --online --tag lobby', 'devices list --output csv --columns id,name,transport --limit 0'],
  options: (args) => withListOptions(args).options(deviceFilterOptions),
  run: (args, client) => printList(() => client.devices({ filter: deviceFilter(args) }), columns, args),
});

const showCommand = hubLeaf({
  usage: 'show <id>',
  values: ['device'],
  summary: 'Show one device with its tools and last sessions',
  examples: ['devices show 02:00:00:00:00:01'],
  options: (args) => withId(args, 'Id of the device'),
  run: async (args, client) => {
    const device = found((await client.request(DeviceDetailsDocument, { id: args.id })).device, 'Device', args.id);
    const isTable = formatOf(args) === 'table';
    await printThing(
      isTable
        ? {
            ...device,
            groups: device.groups.map(({ name }) => name),
            tools: device.tools.map(({ name }) => name),
            sessions: device.sessions.map(sessionInWords),
          }
        : device,
      args,
    );
  },
});

type Session = NonNullable<DeviceDetailsQuery['device']>['sessions'][number];

function sessionInWords({ transport, remoteAddress, connectedAt, disconnectedAt, closeReason }: Session): string {
  const end = disconnectedAt === null ? 'now' : `${disconnectedAt} (${closeReason ?? 'unknown reason'})`;
  return `${transport} from ${remoteAddress ?? 'an unknown address'}, ${connectedAt} to ${end}`;
}

export const devicesCommand = group('devices', 'List, show, register and change devices', [
  listCommand,
  showCommand,
  addCommand,
  importCommand,
  editCommand,
  tagCommand,
  setTransportCommand,
  removeCommand,
  removeManyCommand,
  rotateCommand,
  refreshToolsCommand,
  logCommand,
  picturesCommand,
  snapshotCommand,
  showImageCommand,
]);
