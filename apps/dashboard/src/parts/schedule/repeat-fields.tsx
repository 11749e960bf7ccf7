/** The name, the times and the rules of a schedule. */
import { Radio, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Schedule, scheduleNameMax } from './schedule';
import { ScheduleFields } from './schedule-fields';

export interface Repeat {
  readonly name: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly schedule: Schedule;
  readonly missed: 'SKIP' | 'RUN_ONCE';
  readonly overlap: 'SKIP' | 'CANCEL_PREVIOUS';
}

const missedPolicies = ['SKIP', 'RUN_ONCE'] as const;
const overlapPolicies = ['SKIP', 'CANCEL_PREVIOUS'] as const;

interface RepeatFieldsProps {
  readonly repeat: Repeat;
  readonly onChange: (repeat: Repeat) => void;
}

export function RepeatFields({ repeat, onChange }: RepeatFieldsProps) {
  const { t } = useTranslation();
  const set = (change: Partial<Repeat>) => onChange({ ...repeat, ...change });
  return (
    <Stack>
      <TextInput
        label={t('schedule.name')}
        value={repeat.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        maxLength={scheduleNameMax}
        required
        data-autofocus
      />
      <ScheduleFields
        schedule={repeat.schedule}
        zone={repeat.timeZone}
        onSchedule={(schedule) => set({ schedule })}
        onZone={(timeZone) => set({ timeZone })}
      />
      <Radio.Group
        label={t('recurring.missed')}
        value={repeat.missed}
        onChange={(missed) => set({ missed: missed as Repeat['missed'] })}
      >
        <Stack gap={4} mt={4}>
          {missedPolicies.map((policy) => (
            <Radio key={policy} value={policy} label={t(`recurring.missedPolicy.${policy}`)} />
          ))}
        </Stack>
      </Radio.Group>
      <Radio.Group
        label={t('recurring.overlap')}
        value={repeat.overlap}
        onChange={(overlap) => set({ overlap: overlap as Repeat['overlap'] })}
      >
        <Stack gap={4} mt={4}>
          {overlapPolicies.map((policy) => (
            <Radio key={policy} value={policy} label={t(`recurring.overlapPolicy.${policy}`)} />
          ))}
        </Stack>
      </Radio.Group>
    </Stack>
  );
}
