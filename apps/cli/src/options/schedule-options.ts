/** When a job may work: the options `--start-at` and `--window`, with the zone of the window. */
import type { CreateJobInput, WindowInput } from '@flotilla/client/schema';
import type { InferredOptionTypes } from 'yargs';
import { UsageError } from '../exit-codes.js';
import { textOption } from './shared-options.js';
import { futureTimeOf } from './time-option.js';

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export const scheduleOptions = {
  'start-at': textOption('When the job starts: 2h, 2026-01-31T22:00 in the zone of this computer, or with Z or +01:00'),
  window: textOption('Hours at which it may send, such as 22:00-06:00'),
  'window-zone': textOption('IANA time zone of --window, such as Europe/Berlin [the zone of this computer]'),
  'window-days': textOption('Days on which the window opens, such as mon,tue [every day]'),
} as const;

export type ScheduleArguments = Partial<InferredOptionTypes<typeof scheduleOptions>>;

export function scheduleOf(
  args: ScheduleArguments,
  now: number = Date.now(),
): Pick<CreateJobInput, 'startAt' | 'window'> {
  const window = windowOf(args);
  const startAt = args['start-at'];
  return {
    ...(startAt === undefined ? {} : { startAt: futureTimeOf('start-at', startAt, now) }),
    ...(window === undefined ? {} : { window }),
  };
}

/** The window with the zone of this computer, unless another one is given. */
function windowOf(args: ScheduleArguments): WindowInput | undefined {
  const window = windowIn(args);
  return window === undefined ? undefined : { ...window, zone: window.zone ?? localZone() };
}

/** The window that the options give, without a zone if they have none. */
export function windowIn(
  args: Pick<ScheduleArguments, 'window' | 'window-zone' | 'window-days'>,
): (Omit<WindowInput, 'zone'> & { readonly zone?: string }) | undefined {
  const { window, 'window-zone': zone, 'window-days': days } = args;
  if (window === undefined) {
    if (zone !== undefined || days !== undefined)
      throw new UsageError('--window-zone and --window-days apply to a window. Add --window, such as 22:00-06:00.');
    return undefined;
  }
  const [, from, to] = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(window.trim()) ?? [];
  if (from === undefined || to === undefined)
    throw new UsageError(`--window must be hours such as 22:00-06:00, not "${window}".`);
  return {
    from,
    to,
    ...(zone === undefined ? {} : { zone: checkedZone(zone) }),
    ...(days === undefined ? {} : { days: daysOf(days) }),
  };
}

/** The hub checks the zone again; this check names the option. */
function checkedZone(zone: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return zone;
  } catch {
    throw new UsageError(`--window-zone must be an IANA time zone such as Europe/Berlin, not "${zone}".`);
  }
}

function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** 1 is Monday, as in the API. */
function daysOf(typed: string): readonly number[] {
  const days = typed.split(',').map((name) => dayNames.findIndex((day) => day === name.trim().toLowerCase()) + 1);
  if (days.includes(0)) throw new UsageError(`--window-days must be days such as mon,tue,sun, not "${typed}".`);
  return days;
}
