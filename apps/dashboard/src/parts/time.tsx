/** Moments in the viewer's zone: how long ago at a glance, the exact value with zone on hover or focus. */
import { useSyncExternalStore } from 'react';
import { Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export interface TimeProps {
  /** RFC 3339. */
  readonly at: string | null | undefined;
  /** `ago` moves on by itself; `exact` is for logs, where order counts. */
  readonly form?: 'ago' | 'exact';
}

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];
/** Ms between two looks at the clock, for all moments on the page. */
const tickMs = 10_000;

let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function watchClock(watcher: () => void): () => void {
  watchers.add(watcher);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const notify of watchers) notify();
  }, tickMs);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function Time({ at, form = 'ago' }: TimeProps) {
  const { t, i18n } = useTranslation();
  const clock = useSyncExternalStore(watchClock, () => now);
  if (at === null || at === undefined) return <span className="soft">{t('common.never')}</span>;
  const moment = new Date(at);
  const exact = exactTime(moment, i18n.language);
  return (
    <Tooltip label={exact}>
      <time dateTime={at} className="figures" tabIndex={form === 'ago' ? 0 : undefined}>
        {form === 'ago' ? timeAgo(timeTo(moment.getTime(), clock), i18n.language) : shortTime(moment, i18n.language)}
      </time>
    </Tooltip>
  );
}

/** Ms; what came after the last tick is now and not to come. */
function timeTo(moment: number, tick: number): number {
  const current = Date.now();
  const clock = Math.max(tick, current - tickMs);
  return moment > clock && moment <= current ? 0 : moment - clock;
}

function timeAgo(ms: number, language: string): string {
  const [unit, size] = units.find(([, least]) => Math.abs(ms) >= least) ?? ['second', 1_000];
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }).format(Math.round(ms / size), unit);
}

function exactTime(moment: Date, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' }).format(moment);
}

/** Of today the time alone. */
function shortTime(moment: Date, language: string): string {
  const isToday = moment.toDateString() === new Date().toDateString();
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat(language, isToday ? time : { year: 'numeric', month: 'short', day: 'numeric', ...time }).format(moment);
}
