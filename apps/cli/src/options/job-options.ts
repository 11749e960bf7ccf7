/** The rules of a job: the options that `jobs create` and `firmware roll-out` share. */
import type { CreateJobInput, WaveInput } from '@flotilla/client/schema';
import type { Argv, InferredOptionTypes } from 'yargs';
import { durationOption } from './duration-option.js';
import { intMax, numberOption } from './number-option.js';
import { withDevices, requiredDeviceFilter, type DeviceFilterArguments } from './device-filter.js';
import { scheduleOf, scheduleOptions, type ScheduleArguments } from './schedule-options.js';
import { yesOption } from '../console/confirm.js';
import { UsageError } from '../exit-codes.js';
import { jsonObject } from '../json-input.js';

export const waveOptions = {
  waves: {
    type: 'string',
    requiresArg: true,
    describe: 'Percentages of all devices at the end of each wave, such as 5,25,100',
  },
  soak: durationOption('soak', 'How long to wait after each wave', { plain: 's' }),
  manual: { type: 'boolean', describe: 'Pause after each wave until an operator opens the next one' },
} as const;

const jobOptions = {
  name: { type: 'string', requiresArg: true, describe: 'Name of the job' },
  ...waveOptions,
  'per-minute': numberOption('per-minute', 'Maximum devices per minute', { min: 1, max: intMax }),
  offline: { choices: ['WAIT', 'SKIP', 'FAIL'], describe: 'For offline devices: wait, skip or fail' },
  'expires-in': durationOption('expires-in', 'How long to wait for offline devices', { plain: 'h' }),
  ...scheduleOptions,
  input: {
    type: 'string',
    requiresArg: true,
    describe: 'Other fields of CreateJobInput as JSON',
  },
  'idempotency-key': {
    type: 'string',
    requiresArg: true,
    describe: 'A repeated command with the same key finds the first job and creates none',
  },
  preview: { type: 'boolean', describe: 'Show what the job would do, without creating it' },
  ...yesOption,
  follow: { type: 'boolean', describe: 'Follow the job; Ctrl-C leaves it running' },
} as const;

export type JobArguments = Partial<InferredOptionTypes<typeof jobOptions>> &
  DeviceFilterArguments & { readonly all?: boolean | undefined };

export function withJobOptions<Args>(program: Argv<Args>) {
  return withDevices(program).options(jobOptions);
}

export function jobInput(args: JobArguments, what: Pick<CreateJobInput, 'tool' | 'firmwareImageId'>): CreateJobInput {
  const { name, offline } = args;
  const given = { name, offline, perMinute: args['per-minute'], waves: wavesOf(args) };
  return {
    ...what,
    devices: requiredDeviceFilter(args),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(args['expires-in'] === undefined ? {} : { expiresInSeconds: args['expires-in'] }),
    ...scheduleOf(args as ScheduleArguments),
    ...(args.input === undefined ? {} : jsonObject(args.input, '--input')),
  };
}

export function wavesOf({
  waves,
  soak,
  manual,
}: Partial<InferredOptionTypes<typeof waveOptions>>): readonly WaveInput[] | undefined {
  if (waves === undefined) {
    if (soak !== undefined || manual !== undefined)
      throw new UsageError('--soak and --manual apply to waves. Add --waves.');
    return undefined;
  }
  const percents = waves.split(',').map(Number);
  const isRising = percents.every((percent, index) => percent > (percents[index - 1] ?? 0) && percent <= 100);
  if (!isRising)
    throw new UsageError(`--waves must be rising percentages up to 100, such as 5,25,100, not "${waves}".`);
  const rest = {
    ...(soak === undefined ? {} : { soakSeconds: soak }),
    ...(manual === true ? { gate: 'MANUAL' as const } : {}),
  };
  return percents.map((percent) => ({ percent, ...rest }));
}
