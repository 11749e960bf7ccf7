/** Daily hours in words, and when they begin next in the zone of the viewer. */
import { useTranslation } from 'react-i18next';
import { weekdayNames } from '../job/weekdays';
import { useClock } from '../time/clock';
import { Moment } from './moment';
import { type DailyHours, nextOpening } from './zoned-time';

export function HoursText({ hours }: { readonly hours: DailyHours }) {
  const { t, i18n } = useTranslation();
  const names = weekdayNames(i18n.language);
  const { from, to, zone, days } = hours;
  const on = days.length === 0 ? t('newJob.everyDay') : days.map((day) => names[day - 1]).join(t('mark.listed'));
  return (
    <>
      <div>{t('newJob.windowText', { from, to, zone, days: on })}</div>
      <NextOpening hours={hours} />
    </>
  );
}

export function NextOpening({ hours }: { readonly hours: DailyHours }) {
  const { t } = useTranslation();
  const at = nextOpening(hours, useClock());
  if (at === undefined) return null;
  return (
    <div className="soft">
      {t('zone.nextOpening')} <Moment at={at} zone={hours.zone} />
    </div>
  );
}
