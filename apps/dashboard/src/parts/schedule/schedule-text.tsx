/** The times of a schedule in words; an expression that no form writes is shown as it is. */
import { useTranslation } from 'react-i18next';
import { weekdayNames } from '../job/weekdays';
import { scheduleOf } from './schedule';

export function ScheduleText({ cron }: { readonly cron: string }) {
  const { t, i18n } = useTranslation();
  const { rhythm, time, days, monthDay } = scheduleOf(cron);
  const names = weekdayNames(i18n.language);
  switch (rhythm) {
    case 'custom':
      return <code>{cron}</code>;
    case 'hourly':
      return t('schedule.texts.hourly', { minute: time.slice(3) });
    case 'daily':
      return t('schedule.texts.daily', { time });
    case 'weekly':
      return t('schedule.texts.weekly', { time, days: days.map((day) => names[day - 1]).join(t('mark.listed')) });
    case 'monthly':
      return t('schedule.texts.monthly', { time, day: monthDay });
  }
}
