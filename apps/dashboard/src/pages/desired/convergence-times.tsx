/** How long the latest edit took to reach half, 95 % and 99 % of the reachable devices. */
import { useTranslation } from 'react-i18next';
import { Time } from '../../parts/time/time';
import type { DesiredSummaryFragment } from './generated/desired';
import classes from './desired.module.css';

export function ConvergenceTimes({ summary }: { readonly summary: DesiredSummaryFragment }) {
  const { t, i18n } = useTranslation();
  const seconds = new Intl.NumberFormat(i18n.language, {
    style: 'unit',
    unit: 'second',
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  });
  const shown = (value: number | null) => (value === null ? t('desired.notYet') : seconds.format(value));
  return (
    <dl className={classes.figures} title={t('desired.timesHint')}>
      {(['t50Seconds', 't95Seconds', 't99Seconds'] as const).map((name) => (
        <div key={name}>
          <dt>{t(`desired.times.${name}`)}</dt>
          <dd>{shown(summary[name])}</dd>
        </div>
      ))}
      {summary.oldestDriftAt !== null && (
        <div>
          <dt>{t('desired.oldestDrift')}</dt>
          <dd>
            <Time at={summary.oldestDriftAt} />
          </dd>
        </div>
      )}
    </dl>
  );
}
