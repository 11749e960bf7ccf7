/** A daily window: its hours, zone and days. */
import type { ReactNode } from 'react';
import { Chip, Group, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { weekdayNames } from '../../../parts/job/weekdays';
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
  const { t, i18n } = useTranslation();
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
      <Chip.Group multiple value={window.days.map(String)} onChange={(days) => onChange({ days: days.map(Number) })}>
        <Group gap={6} role="group" aria-label={t('newJob.days')} pb={4}>
          {weekdayNames(i18n.language).map((name, index) => (
            <Chip key={name} value={String(index + 1)} size="xs">
              {name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
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
