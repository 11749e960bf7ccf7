/** The lines of a session log, the latest at the end; a message opens to its indented form. */
import { useEffect, useRef, useState } from 'react';
import { VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { indented, type LogLine } from './log-lines';
import classes from './log.module.css';

const marks = { SENT: '→', RECEIVED: '←' } as const;

interface LogListProps {
  readonly lines: readonly LogLine[];
  /** Keeps the end in view. */
  readonly isAtEnd: boolean;
}

export function LogList({ lines, isAtEnd }: LogListProps) {
  const { t } = useTranslation();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAtEnd && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [lines, isAtEnd]);
  return (
    <div ref={list} className={classes.list} role="log" aria-live="off" aria-label={t('device.log.title')} tabIndex={0}>
      {lines.length === 0 && <p className={classes.note}>{t('device.log.empty')}</p>}
      {lines.map((line) => (
        <Line key={line.number} line={line} />
      ))}
    </div>
  );
}

function Line({ line }: { readonly line: LogLine }) {
  const { t, i18n } = useTranslation();
  const [isWhole, setWhole] = useState(false);
  const { at, bytes, isTruncated, kind, text } = line;
  const time = (
    <time dateTime={at} className={`figures ${classes.time}`}>
      {timeOfDay(at, i18n.language)}
    </time>
  );
  if (kind !== 'SENT' && kind !== 'RECEIVED')
    return (
      <div className={classes.line} data-kind={kind}>
        {time}
        <span className={classes.note}>
          {kind === 'DROPPED'
            ? t('device.log.dropped', { count: Number(text) })
            : t(`device.log.${kind}`, { text: kind === 'STARTED' ? timeOfDay(text, i18n.language) : text })}
        </span>
      </div>
    );
  return (
    <div className={classes.line} data-kind={kind}>
      {time}
      <button
        type="button"
        className={classes.message}
        aria-expanded={isWhole}
        onClick={() => setWhole(!isWhole)}
        title={t('device.log.bytes', { count: bytes })}
      >
        <span aria-hidden>{marks[kind]} </span>
        <VisuallyHidden>{t(`device.log.${kind}`)}</VisuallyHidden>
        <code className={isWhole ? classes.whole : classes.short}>
          {isWhole ? indented(text) : text}
          {isTruncated && ' …'}
        </code>
      </button>
    </div>
  );
}

/** To the millisecond, because the order and the pauses of messages matter. */
function timeOfDay(at: string, language: string): string {
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 } as const;
  return new Intl.DateTimeFormat(language, { ...time, hourCycle: 'h23' }).format(new Date(at));
}
