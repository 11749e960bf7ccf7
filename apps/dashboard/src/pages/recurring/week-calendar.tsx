/** The runs of the coming week: a column for each day, a list for each day on a phone. */
import { useTranslation } from 'react-i18next';
import { Section } from '../../parts/page';
import { viewerZone } from '../../parts/zone/time-zones';
import { weekOf, type Day } from './week';
import classes from './recurring.module.css';

/** Runs that a day shows; the others are counted. */
const shownMax = 8;

/** Jobs that a day names where it cannot list all their runs. */
const namesMax = 3;

interface WeekCalendarProps {
  readonly jobs: Parameters<typeof weekOf>[0];
}

export function WeekCalendar({ jobs }: WeekCalendarProps) {
  const { t } = useTranslation();
  return (
    <Section title={t('recurring.week')}>
      <p className="soft">{t('recurring.weekHint', { zone: viewerZone() })}</p>
      <ol className={classes.week}>
        {weekOf(jobs, Date.now()).map((day) => (
          <DayColumn key={day.at} day={day} />
        ))}
      </ol>
    </Section>
  );
}

function DayColumn({ day: { at, runs, unlisted } }: { readonly day: Day }) {
  const { t, i18n } = useTranslation();
  const names = new Intl.ListFormat(i18n.language).format(unlisted.slice(0, namesMax));
  const title = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', day: 'numeric', month: 'short' });
  const time = new Intl.DateTimeFormat(i18n.language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return (
    <li className={classes.day}>
      <h3 className={classes.dayTitle}>{title.format(at)}</h3>
      {runs.length === 0 && unlisted.length === 0 && <p className={`soft ${classes.noRun}`}>{t('recurring.noRun')}</p>}
      <ul className={classes.runs}>
        {runs.slice(0, shownMax).map((run) => (
          <li key={`${run.id} ${run.at}`} className={classes.run}>
            <time dateTime={new Date(run.at).toISOString()} className="figures">
              {time.format(run.at)}
            </time>{' '}
            <a href={`#${run.id}`} title={run.name}>
              {run.name}
            </a>
          </li>
        ))}
      </ul>
      {runs.length > shownMax && <p className="soft">{t('recurring.more', { count: runs.length - shownMax })}</p>}
      {unlisted.length > 0 && (
        <p className="soft">
          {unlisted.length > namesMax
            ? t('recurring.unlistedMany', { names, count: unlisted.length - namesMax })
            : t('recurring.unlisted', { names })}
        </p>
      )}
    </li>
  );
}
