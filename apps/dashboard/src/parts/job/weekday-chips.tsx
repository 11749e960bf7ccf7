/** Choices of days of the week, Monday first. */
import { Chip, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { weekdayNames } from './weekdays';

interface WeekdayChipsProps {
  readonly label: string;
  /** 1 (Monday) to 7. */
  readonly days: readonly number[];
  readonly onChange: (days: number[]) => void;
  readonly pb?: number;
}

export function WeekdayChips({ label, days, onChange, ...box }: WeekdayChipsProps) {
  const { i18n } = useTranslation();
  return (
    <Chip.Group multiple value={days.map(String)} onChange={(chosen) => onChange(chosen.map(Number))}>
      <Group gap={6} role="group" aria-label={label} {...box}>
        {weekdayNames(i18n.language).map((name, index) => (
          <Chip key={name} value={String(index + 1)} size="xs">
            {name}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}
