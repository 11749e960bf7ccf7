/** A schedule as a form has it, and the cron expression that the hub keeps. */

export type Rhythm = 'daily' | 'weekly' | 'monthly' | 'hourly' | 'custom';

export const rhythms: readonly Rhythm[] = ['daily', 'weekly', 'monthly', 'hourly', 'custom'];

export interface Schedule {
  readonly rhythm: Rhythm;
  /** HH:MM in the zone of the schedule; hourly uses its minutes only. */
  readonly time: string;
  /** 1 (Monday) to 7, of weekly schedules. */
  readonly days: readonly number[];
  /** 1 to 31, of monthly schedules. */
  readonly monthDay: number;
  /** The expression of custom schedules. */
  readonly cron: string;
}

export const defaultSchedule: Schedule = {
  rhythm: 'daily',
  time: '22:00',
  days: [1],
  monthDay: 1,
  cron: '',
};

/** Characters of the name of a schedule. */
export const scheduleNameMax = 100;

/** From the name of its job, which may be longer. */
export function scheduleNameOf(jobName: string): string {
  return [...jobName].slice(0, scheduleNameMax).join('').trim();
}

const weekdays = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;

/** Five fields. Empty if a value is missing. */
export function cronOf({ rhythm, time, days, monthDay, cron }: Schedule): string {
  const [hour, minute] = time.split(':').map(Number);
  if (rhythm === 'custom') return cron.trim();
  if (hour === undefined || minute === undefined || Number.isNaN(hour) || Number.isNaN(minute)) return '';
  switch (rhythm) {
    case 'hourly':
      return `${minute} * * * *`;
    case 'daily':
      return `${minute} ${hour} * * *`;
    case 'monthly':
      return `${minute} ${hour} ${monthDay} * *`;
    case 'weekly':
      return days.length === 0 ? '' : `${minute} ${hour} * * ${namesOf(days)}`;
  }
}

/** The form of an expression; `custom` if no other rhythm writes it in the same way. */
export function scheduleOf(cron: string): Schedule {
  const [minute = '', hour = '', monthDay = '', , weekday = ''] = cron.trim().split(/\s+/);
  const time = `${hour === '*' ? '00' : hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  const days = weekday
    .split(',')
    .map((name) => weekdays.findIndex((each) => each === name) + 1)
    .filter((day) => day > 0);
  const given: Schedule = { ...defaultSchedule, time, days, monthDay: Number(monthDay) || 1, cron };
  const rhythm = rhythms.find(
    (each) => each !== 'custom' && cron.trim() !== '' && cronOf({ ...given, rhythm: each }) === cron.trim(),
  );
  return rhythm === undefined ? { ...defaultSchedule, rhythm: 'custom', cron } : { ...given, rhythm };
}

function namesOf(days: readonly number[]): string {
  return [...days]
    .sort()
    .map((day) => weekdays[day - 1])
    .join(',');
}
