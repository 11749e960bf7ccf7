/** A daily window in words. */
import { useTranslation } from 'react-i18next';
import { weekdayNames } from '../../parts/job/weekdays';

interface WindowTextProps {
  readonly window: {
    readonly from: string;
    readonly to: string;
    readonly zone: string | null;
    readonly days: readonly number[] | null;
  } | null;
}

export function WindowText({ window }: WindowTextProps) {
  const { t, i18n } = useTranslation();
  if (window === null) return t('desired.always');
  const { from, to, zone, days } = window;
  const names = weekdayNames(i18n.language);
  const on = days === null ? '' : ` · ${days.map((day) => names[day - 1]).join(t('mark.listed'))}`;
  return `${from}–${to}${on} · ${zone ?? t('desired.deviceZone')}`;
}
