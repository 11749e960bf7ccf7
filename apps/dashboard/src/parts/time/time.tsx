/**
 * Times in the viewer's zone: relative with the exact time and its zone on hover or focus, or
 * exact with the relative one on hover.
 */
import { useRef, useState } from 'react';
import { Tooltip } from '@mantine/core';
import type { i18n } from 'i18next';
import { useTranslation } from 'react-i18next';
import { agoText } from './ago-text';
import { tickMs, useClock } from './clock';
import { exactForm } from './exact-form';

interface TimeProps {
  /** RFC 3339. */
  readonly at: string | null | undefined;
  /** `ago` moves on by itself; `exact` is for columns of logs; `full` has year and seconds. */
  readonly form?: 'ago' | 'exact' | 'full';
}

/** Px of a column for the exact form. An old time is the widest one, in Chinese. */
export const exactTimeWidth = 136;

export function Time({ at, form = 'ago' }: TimeProps) {
  const { t, i18n } = useTranslation();
  const clock = useClock();
  const text = useRef<HTMLTimeElement>(null);
  // A table has hundreds of moments, and one looks at one.
  const [isNear, setNear] = useState(false);
  if (at === null || at === undefined) return <span className="soft">{t('common.never')}</span>;
  const moment = new Date(at);
  return (
    <>
      <time
        ref={text}
        dateTime={at}
        className="figures"
        tabIndex={form === 'ago' ? 0 : undefined}
        onPointerEnter={() => setNear(true)}
        onPointerLeave={() => setNear(false)}
        onFocus={() => setNear(true)}
        onBlur={() => setNear(false)}
      >
        {form === 'ago' ? agoText(timeTo(moment.getTime(), clock), i18n.language) : shown(moment, form, i18n.language)}
      </time>
      {isNear && <Tooltip target={text} opened label={exactTime(moment, form, i18n)} />}
    </>
  );
}

/** Ms; what came after the last tick is now and not to come. */
function timeTo(moment: number, tick: number): number {
  const current = Date.now();
  const clock = Math.max(tick, current - tickMs);
  return moment > clock && moment <= current ? 0 : moment - clock;
}

/** With the zone, and with how long ago it was where the page does not say so. */
function exactTime(moment: Date, form: TimeProps['form'], { t, language }: i18n): string {
  const exact = formatsOf(language).exact.format(moment);
  const ago = agoText(moment.getTime() - Date.now(), language);
  return form === 'ago' ? exact : exact + t('mark.open') + ago + t('mark.close');
}

function shown(moment: Date, form: 'exact' | 'full', language: string): string {
  return formatsOf(language)[form === 'full' ? form : exactForm(moment, new Date())].format(moment);
}

function makeFormats(language: string) {
  const minutes = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const seconds = { ...minutes, second: '2-digit' } as const;
  const day = { month: 'short', day: 'numeric' } as const;
  return {
    exact: new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' }),
    today: new Intl.DateTimeFormat(language, seconds),
    recent: new Intl.DateTimeFormat(language, { ...day, ...seconds }),
    old: new Intl.DateTimeFormat(language, { year: 'numeric', ...day, ...minutes }),
    full: new Intl.DateTimeFormat(language, { year: 'numeric', ...day, ...seconds }),
  };
}

/** Created once per language, because creating a formatter takes longer than drawing a row. */
const formats = new Map<string, ReturnType<typeof makeFormats>>();

function formatsOf(language: string): ReturnType<typeof makeFormats> {
  const known = formats.get(language) ?? makeFormats(language);
  formats.set(language, known);
  return known;
}
