/** When a schedule has its times: a rhythm with a time, or a cron expression, in a zone. */
import { Group, Select, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { WeekdayChips } from '../job/weekday-chips';
import { NumberField } from '../number/number-field';
import { ZoneField } from '../zone/zone-field';
import { rhythms, type Rhythm, type Schedule } from './schedule';

interface ScheduleFieldsProps {
  readonly schedule: Schedule;
  readonly zone: string;
  readonly onSchedule: (schedule: Schedule) => void;
  readonly onZone: (zone: string) => void;
}

export function ScheduleFields({ schedule, zone, onSchedule, onZone }: ScheduleFieldsProps) {
  const { t } = useTranslation();
  const set = (change: Partial<Schedule>) => onSchedule({ ...schedule, ...change });
  const { rhythm } = schedule;
  return (
    <Stack gap="sm">
      <Group align="flex-end" gap="sm">
        <Select
          label={t('schedule.rhythm')}
          data={rhythms.map((value) => ({ value, label: t(`schedule.rhythms.${value}`) }))}
          value={rhythm}
          allowDeselect={false}
          onChange={(value) => set({ rhythm: value as Rhythm })}
          w={180}
        />
        {rhythm === 'monthly' && (
          <NumberField
            label={t('schedule.monthDay')}
            min={1}
            max={31}
            fallback={1}
            value={schedule.monthDay}
            onChange={(monthDay = 1) => set({ monthDay })}
            w={110}
          />
        )}
        {rhythm === 'custom' ? (
          <TextInput
            label={t('schedule.cron')}
            description={t('schedule.cronHint')}
            placeholder={t('schedule.cronExample')}
            value={schedule.cron}
            onChange={(event) => set({ cron: event.currentTarget.value })}
            required
          />
        ) : (
          <TextInput
            type="time"
            label={t(rhythm === 'hourly' ? 'schedule.minute' : 'schedule.time')}
            value={schedule.time}
            onChange={(event) => set({ time: event.currentTarget.value })}
            required
            w={130}
          />
        )}
      </Group>
      {rhythm === 'weekly' && (
        <WeekdayChips label={t('schedule.days')} days={schedule.days} onChange={(days) => set({ days })} />
      )}
      <ZoneField label={t('schedule.zone')} description={t('schedule.zoneHint')} value={zone} onChange={onZone} />
    </Stack>
  );
}
