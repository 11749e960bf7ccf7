/** A daily window: its hours, zone and days. */
import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { WeekdayChips } from '../../../parts/job/weekday-chips';
import { ZoneField } from '../../../parts/zone/zone-field';
import type { DailyHours } from '../../../parts/zone/zoned-time';
import { type Refusal, refusedAt } from '../refusals';
import classes from '../new-job.module.css';

interface WindowFieldsetProps {
  readonly legend: string;
  readonly window: DailyHours;
  readonly refusals: readonly Refusal[];
  /** What no zone means. Without it a zone is needed. */
  readonly withoutZone?: string;
  readonly onChange: (changed: Partial<DailyHours>) => void;
  readonly children?: ReactNode;
}

export function WindowFieldset({ legend, window, refusals, withoutZone, onChange, children }: WindowFieldsetProps) {
  const { t } = useTranslation();
  const refused = refusedAt(refusals, 'window');
  return (
    <fieldset className={classes.part}>
      <legend className={classes.label}>{legend}</legend>
      {(['from', 'to'] as const).map((end) => (
        <TextInput
          key={end}
          type="time"
          label={t(`newJob.windowEnds.${end}`)}
          value={window[end]}
          error={refusedAt(refusals, 'window', end)}
          onChange={(event) => onChange({ [end]: event.currentTarget.value })}
          w={120}
        />
      ))}
      <ZoneField
        label={t('newJob.zone')}
        {...(withoutZone !== undefined && { placeholder: withoutZone, clearable: true })}
        value={window.zone}
        error={refusedAt(refusals, 'window', 'zone')}
        onChange={(zone) => onChange({ zone })}
        w={300}
      />
      <WeekdayChips label={t('newJob.days')} days={window.days} onChange={(days) => onChange({ days })} pb={4} />
      <p className={classes.hint}>{t(window.days.length === 0 ? 'newJob.everyDay' : 'newJob.onTheseDays')}</p>
      {children}
      {refused !== undefined && (
        <p className={classes.refused} role="alert">
          {refused}
        </p>
      )}
    </fieldset>
  );
}
