/** Which devices: the options that listing and jobs share, as the API's filter. */
import type { DeviceFilter } from '@flotilla/client/schema';
import type { Argv, InferredOptionTypes } from 'yargs';
import { UsageError } from './exit-codes.js';
import { jsonObject } from './json-input.js';

export const deviceFilterOptions = {
  online: { type: 'boolean', describe: 'Those that are connected; --no-online: those that are not' },
  tag: {
    type: 'string',
    array: true,
    requiresArg: true,
    nargs: 1,
    describe: 'Carries this tag; several: carries all of them',
  },
  model: { type: 'string', requiresArg: true, describe: 'Board, as the device reports it' },
  'firmware-before': { type: 'string', requiresArg: true, describe: 'Runs a version before this one' },
  'has-tool': { type: 'string', requiresArg: true, describe: 'Offers this tool' },
  group: { type: 'string', requiresArg: true, describe: 'Id of a device group' },
  search: { type: 'string', requiresArg: true, describe: 'Part of its id or name' },
  device: { type: 'string', array: true, requiresArg: true, nargs: 1, describe: 'This device; several: any of them' },
  filter: {
    type: 'string',
    requiresArg: true,
    describe: 'A DeviceFilter of the API as JSON, for what the other options cannot say',
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
    group: groupId,
    search,
    device: ids,
    filter,
  } = args;
  const given = { tags: tag, model, firmwareBefore, hasTool, groupId, search, ids };
  return {
    ...(online === undefined ? {} : { presence: online ? 'ONLINE' : 'OFFLINE' }),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(filter === undefined ? {} : jsonObject(filter, '--filter')),
  };
}

/** For what changes or calls something: nothing means the whole fleet by accident. */
export function requiredDeviceFilter(
  args: DeviceFilterArguments & { readonly all?: boolean | undefined },
): DeviceFilter {
  const filter = deviceFilter(args);
  const isEmpty = Object.keys(filter).length === 0;
  if (isEmpty && args.all !== true)
    throw new UsageError('Say which devices: --tag, --model, --device, --filter …, or --all for the whole fleet.');
  if (!isEmpty && args.all === true)
    throw new UsageError('--all is the whole fleet: leave it out where the devices are said otherwise.');
  return isEmpty ? { all: true } : filter;
}

export function withDevices<Args>(program: Argv<Args>) {
  return program.options(deviceFilterOptions).option('all', { type: 'boolean', describe: 'The whole fleet' });
}
