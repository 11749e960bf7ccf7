/** Options that select devices, as a device filter of the API. */
import type { DeviceFilter } from '@flotilla/client/schema';
import type { Argv, InferredOptionTypes } from 'yargs';
import { UsageError } from '../exit-codes.js';
import { jsonObject } from '../json-input.js';

export const deviceFilterOptions = {
  online: { type: 'boolean', describe: 'Online devices; --no-online: offline devices' },
  tag: {
    type: 'string',
    array: true,
    requiresArg: true,
    nargs: 1,
    describe: 'Devices with this tag; repeat for devices with all of them',
  },
  model: { type: 'string', requiresArg: true, describe: 'Board, as the device reports it' },
  'firmware-before': { type: 'string', requiresArg: true, describe: 'Devices with a version before this one' },
  'has-tool': { type: 'string', requiresArg: true, describe: 'Devices with this tool' },
  'out-of-sync': { type: 'boolean', describe: 'Devices that are out of sync with a desired state; not for jobs' },
  group: { type: 'string', requiresArg: true, describe: 'Id of a device group' },
  search: { type: 'string', requiresArg: true, describe: 'Part of the id or name' },
  device: {
    type: 'string',
    array: true,
    requiresArg: true,
    nargs: 1,
    describe: 'This device; repeat for more devices',
  },
  filter: {
    type: 'string',
    requiresArg: true,
    describe: 'A DeviceFilter of the API as JSON',
  },
} as const;

export type DeviceFilterArguments = Partial<InferredOptionTypes<typeof deviceFilterOptions>>;

export function deviceFilter(args: DeviceFilterArguments): DeviceFilter {
  const {
    online,
    tag,
    model,
    'firmware-before': firmwareBefore,
    'has-tool': hasTool,
    'out-of-sync': outOfSync,
    group: groupId,
    search,
    device: ids,
    filter,
  } = args;
  const given = { tags: tag, model, firmwareBefore, hasTool, outOfSync, groupId, search, ids };
  return {
    ...(online === undefined ? {} : { presence: online ? 'ONLINE' : 'OFFLINE' }),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(filter === undefined ? {} : jsonObject(filter, '--filter')),
  };
}

/**
 * Where devices are optional. An empty --filter must not count as none: `otherwise` says what
 * happens without it. By default, as in edits, the former filter stays.
 */
export function selectsDevices(
  args: DeviceFilterArguments & { readonly all?: boolean | undefined },
  otherwise = 'to keep the former filter',
): boolean {
  if (args.all === true || Object.keys(deviceFilter(args)).length > 0) return true;
  if (args.filter === undefined) return false;
  throw new UsageError(`--filter has no condition. Omit it ${otherwise}.`);
}

/** The filter of a command that changes or calls something: an empty one is an error. */
export function requiredDeviceFilter(
  args: DeviceFilterArguments & { readonly all?: boolean | undefined },
): DeviceFilter {
  const filter = deviceFilter(args);
  const isEmpty = Object.keys(filter).length === 0;
  if (isEmpty && args.all !== true)
    throw new UsageError('Select devices with --tag, --model, --device, --filter …, or --all for the whole fleet.');
  if (!isEmpty && args.all === true)
    throw new UsageError('--all selects the whole fleet. Omit it, or omit the other options that select devices.');
  return isEmpty ? { all: true } : filter;
}

export function withDevices<Args>(program: Argv<Args>) {
  return program.options(deviceFilterOptions).option('all', { type: 'boolean', describe: 'Select the whole fleet' });
}
