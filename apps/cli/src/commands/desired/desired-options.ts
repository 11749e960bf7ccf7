/** The options of a desired state, and the fields of its input that they give. */
import type { DesiredStateInput, DesiredStateWindowInput } from '@flotilla/client/schema';
import type { Argv, InferredOptionTypes } from 'yargs';
import { UsageError } from '../../exit-codes.js';
import { jsonObject } from '../../json-input.js';
import { deviceFilterOptions, type DeviceFilterArguments } from '../../options/device-filter.js';
import { wavesOf, waveOptions } from '../../options/job-options.js';
import { durationOption } from '../../options/duration-option.js';
import { intMax, numberOption } from '../../options/number-option.js';
import { windowIn } from '../../options/schedule-options.js';
import { given, textOption } from '../../options/shared-options.js';

/** For `--window`: removes the window in an edit. */
const always = 'always';
/** For `--window-zone` and `--window-days`: what a window has without them. */
const ofDevice = 'device';
const every = 'every';

const desiredOptions = {
  name: textOption('Name of the desired state'),
  mode: { choices: ['ENFORCE', 'REPORT'], describe: 'Set values that differ, or only report them' },
  'on-drift': {
    choices: ['REVERT', 'HOLD', 'ACCEPT'],
    describe: 'For values that a person or another caller changed: set again, leave for a while, or leave',
  },
  hold: durationOption('hold', 'How long HOLD leaves a changed value alone', { plain: 'm', max: '30d' }),
  priority: numberOption('priority', 'Where several set the same value of a device, the highest applies', {
    min: -1_000,
    max: 1_000,
  }),
  window: textOption('Hours of the day at which it applies, such as 22:00-07:00, or "always"'),
  'window-zone': textOption('IANA time zone of --window, such as Europe/Berlin, or "device" for that of each device'),
  'window-days': textOption('Days on which the window begins, such as mon,tue, or "every"'),
  ...waveOptions,
  'max-in-flight': numberOption('max-in-flight', 'Maximum calls under way at a time', { min: 1, max: intMax }),
  'per-minute': numberOption('per-minute', 'Maximum devices per minute', { min: 1, max: intMax }),
  input: textOption('Other fields of DesiredStateInput as JSON, such as \'{"abort":[…]}\''),
  preview: { type: 'boolean', describe: 'Show what saving would do, without saving' },
} as const;

export type DesiredArguments = Partial<InferredOptionTypes<typeof desiredOptions>> & DeviceFilterArguments;

/** Adds the options, with those that select devices. */
export function withDesiredOptions<Args>(args: Argv<Args>) {
  return args
    .options(deviceFilterOptions)
    .option('all', { type: 'boolean', describe: 'Select the whole fleet' })
    .options(desiredOptions);
}

/**
 * The given fields, without name, tool, arguments and devices. What is not given of a window stays
 * as it is stored.
 */
export function rulesOf(
  args: DesiredArguments,
  stored: DesiredStateWindowInput | null = null,
): Partial<DesiredStateInput> {
  const { mode, hold, priority } = args;
  const window = windowOf(args, stored);
  const waves = wavesOf(args);
  return {
    ...given({ mode, priority, waves, window, onDrift: args['on-drift'], holdSeconds: hold }),
    ...given({ maxInFlight: args['max-in-flight'], perMinute: args['per-minute'] }),
    ...(args.input === undefined ? {} : jsonObject(args.input, '--input')),
  };
}

/** Null for `always`, undefined without the options. */
function windowOf(
  args: DesiredArguments,
  stored: DesiredStateWindowInput | null,
): DesiredStateWindowInput | null | undefined {
  const { window: hours, 'window-zone': zone, 'window-days': days } = args;
  const hasRest = zone !== undefined || days !== undefined;
  if (hours?.trim() === always) {
    if (hasRest)
      throw new UsageError(`--window ${always} has no zone and no days. Omit --window-zone and --window-days.`);
    return null;
  }
  const shown = hours ?? (stored !== null && hasRest ? `${stored.from}-${stored.to}` : undefined);
  const [isOfDevice, isEvery] = shown === undefined ? [] : [zone?.trim() === ofDevice, days?.trim() === every];
  const window = windowIn({
    window: shown,
    'window-zone': isOfDevice ? undefined : zone,
    'window-days': isEvery ? undefined : days,
  });
  if (window === undefined) return undefined;
  return {
    ...window,
    zone: isOfDevice ? null : (window.zone ?? stored?.zone ?? null),
    ...given({ days: isEvery ? undefined : (window.days ?? stored?.days ?? undefined) }),
  };
}
