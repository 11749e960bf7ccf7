/** Adds one condition to the filter: what, then its value. */
import { type FormEvent, useRef, useState } from 'react';
import { Autocomplete, Button, Popover, Select, Stack, TextInput } from '@mantine/core';
import { IconFilterPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ActButton } from '../../parts/act-button';
import {
  choiceConditions,
  type ConditionMode,
  conditionModes,
  type DeviceConditions,
  type DeviceSearch,
  withCondition,
} from './device-search';
import type { DeviceChoicesQuery } from './generated/devices';

interface AddConditionProps {
  readonly search: DeviceSearch;
  /** Values that devices have; undefined while they are asked for. */
  readonly choices: DeviceChoicesQuery | undefined;
  /** The filter is of a list. The hub takes more conditions there than for what it changes. */
  readonly isOfList: boolean;
  readonly onChange: (change: Partial<DeviceSearch>) => void;
}

const conditions = [
  'presence',
  'model',
  'firmwareVersion',
  'firmwareBefore',
  'tags',
  'hasTool',
  'transport',
  'dialect',
  'lastSeenBefore',
  'toolsStale',
  'outOfSync',
  'search',
] as const;
type Condition = (typeof conditions)[number];

/** Hours since a device was last seen. */
const silences = { hour: 1, day: 24, week: 168, month: 720 } as const;

export function AddCondition({ search, choices, isOfList, onChange }: AddConditionProps) {
  const { t } = useTranslation();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [condition, setCondition] = useState<Condition>('presence');
  const [mode, setMode] = useState<ConditionMode>('must');
  const [value, setValue] = useState('');
  const add = (event: FormEvent) => {
    event.preventDefault();
    onChange(withCondition(search, conditionFrom(condition, value.trim()), mode));
    setValue('');
    setOpen(false);
    button.current?.focus();
  };
  const offered = conditions.filter((name) => isOfList || name !== 'outOfSync');
  const needsValue = condition !== 'toolsStale' && condition !== 'outOfSync';
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus width={280}>
      <Popover.Target>
        <ActButton ref={button} icon={IconFilterPlus} onClick={() => setOpen(!isOpen)}>
          {t('devices.addCondition')}
        </ActButton>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={add}>
          <Stack gap="sm">
            <Select
              label={t('devices.conditionOf')}
              data={offered.map((name) => ({ value: name, label: t(`devices.condition.${name}`) }))}
              value={condition}
              comboboxProps={{ withinPortal: false }}
              onChange={(chosen) => {
                setCondition(chosen as Condition);
                setValue('');
              }}
            />
            <Select
              label={t('devices.mode')}
              data={conditionModes.map((name) => ({ value: name, label: t(`devices.modes.${name}`) }))}
              value={mode}
              comboboxProps={{ withinPortal: false }}
              onChange={(chosen) => setMode(chosen as ConditionMode)}
            />
            {needsValue && <ValueField condition={condition} value={value} choices={choices} onChange={setValue} />}
            <Button type="submit" disabled={needsValue && value.trim() === ''}>
              {t('devices.add')}
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

interface ValueFieldProps {
  readonly condition: Condition;
  readonly value: string;
  readonly choices: DeviceChoicesQuery | undefined;
  readonly onChange: (value: string) => void;
}

function ValueField({ condition, value, choices, onChange }: ValueFieldProps) {
  const { t } = useTranslation();
  const label = t('devices.value');
  const inside = { comboboxProps: { withinPortal: false } };
  const closed = useClosedChoices(condition);
  if (closed)
    return (
      <Select
        label={label}
        data={closed}
        value={value || null}
        onChange={(chosen) => onChange(chosen ?? '')}
        {...inside}
      />
    );
  if (condition === 'model' || condition.startsWith('firmware')) {
    const known = condition === 'model' ? choices?.fleetSummary.models : choices?.fleetSummary.firmwareVersions;
    const values = (known ?? []).flatMap((share) => share.value ?? []);
    return <Autocomplete label={label} data={values} value={value} onChange={onChange} {...inside} />;
  }
  return <TextInput label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)} />;
}

function useClosedChoices(condition: Condition) {
  const { t } = useTranslation();
  if (condition === 'presence')
    return choiceConditions.presence.map((value) => ({ value, label: t(`presence.${value}`) }));
  if (condition === 'transport')
    return choiceConditions.transport.map((value) => ({ value, label: t(`devices.transports.${value}`) }));
  if (condition === 'dialect')
    return choiceConditions.dialect.map((value) => ({ value, label: t(`devices.dialects.${value}`) }));
  if (condition === 'lastSeenBefore')
    return (Object.keys(silences) as (keyof typeof silences)[]).map((value) => ({
      value,
      label: t(`devices.silences.${value}`),
    }));
  return undefined;
}

function conditionFrom(condition: Condition, value: string): DeviceConditions {
  if (condition === 'tags') return { tags: [value] };
  if (condition === 'toolsStale' || condition === 'outOfSync') return { [condition]: true };
  if (condition === 'lastSeenBefore') {
    const hours = silences[value as keyof typeof silences];
    return { lastSeenBefore: new Date(Date.now() - hours * 3_600_000).toISOString() };
  }
  return { [condition]: value };
}
