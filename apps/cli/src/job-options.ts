/** How a job goes over its devices: the options that `jobs create` and `firmware roll-out` share. */
import type { CreateJobInput, WaveInput } from '@flotilla/client/schema';
import type { Argv, InferredOptionTypes } from 'yargs';
import { daysMax, intMax, numberOption } from './number-option.js';
import { withDevices, requiredDeviceFilter, type DeviceFilterArguments } from './device-filter.js';
import { yesOption } from './console/confirm.js';
import { UsageError } from './exit-codes.js';
import { jsonObject } from './json-input.js';

const jobOptions = {
  name: { type: 'string', requiresArg: true, describe: 'What people know the job by' },
  waves: {
    type: 'string',
    requiresArg: true,
    describe: 'Percent of the devices up to the end of each wave, such as 5,25,100',
  },
  soak: numberOption('soak', 'Seconds to watch after each wave', { min: 0, max: intMax }),
  manual: { type: 'boolean', describe: 'Wait for somebody to open each next wave' },
  'per-minute': numberOption('per-minute', 'Devices a minute at most', { min: 1, max: intMax }),
  offline: { choices: ['WAIT', 'SKIP', 'FAIL'], describe: 'What becomes of devices that are away' },
  'expires-in': numberOption('expires-in', 'Hours that a device which is away is waited for', {
    min: 0,
    max: daysMax * 24,
    isFraction: true,
  }),
  input: {
    type: 'string',
    requiresArg: true,
    describe: 'More of CreateJobInput as JSON, for what the other options cannot say',
  },
  'idempotency-key': { type: 'string', requiresArg: true, describe: 'Running again with it finds the same job' },
  preview: { type: 'boolean', describe: 'Say what the job would do, and create nothing' },
  ...yesOption,
  follow: { type: 'boolean', describe: 'Stay and show how it goes on; Ctrl-C leaves it running' },
} as const;

export type JobArguments = Partial<InferredOptionTypes<typeof jobOptions>> &
  DeviceFilterArguments & { readonly all?: boolean | undefined };

export function withJobOptions<Args>(program: Argv<Args>) {
  return withDevices(program).options(jobOptions);
}

export function jobInput(
  args: JobArguments,
  what: Pick<CreateJobInput, 'tool' | 'arguments' | 'firmwareImageId'>,
): CreateJobInput {
  const { name, offline } = args;
  const given = { name, offline, perMinute: args['per-minute'], waves: wavesOf(args) };
  return {
    ...what,
    devices: requiredDeviceFilter(args),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(args['expires-in'] === undefined ? {} : { expiresInSeconds: Math.round(args['expires-in'] * 3_600) }),
    ...(args.input === undefined ? {} : jsonObject(args.input, '--input')),
  };
}

function wavesOf({ waves, soak, manual }: JobArguments): readonly WaveInput[] | undefined {
  if (waves === undefined) {
    if (soak !== undefined || manual !== undefined)
      throw new UsageError('--soak and --manual say how waves follow each other: they need --waves.');
    return undefined;
  }
  const percents = waves.split(',').map(Number);
  const isRising = percents.every((percent, index) => percent > (percents[index - 1] ?? 0) && percent <= 100);
  if (!isRising) throw new UsageError(`--waves are rising percents up to 100, such as 5,25,100, not "${waves}".`);
  const rest = {
    ...(soak === undefined ? {} : { soakSeconds: soak }),
    ...(manual === true ? { gate: 'MANUAL' as const } : {}),
  };
  return percents.map((percent) => ({ percent, ...rest }));
}
