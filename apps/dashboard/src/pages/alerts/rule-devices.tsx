/** The devices of a rule, by conditions; as JSON if the filter bar would lose a part of them. */
import { type KeyboardEvent, useState } from 'react';
import { Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { conditionsOf, type DeviceConditions, filterOf } from '../devices/device-search';
import { FilterBar } from '../devices/filter-bar';
import { conditionsIn } from '../devices/stored-filter';
import type { DeviceFilter } from './generated/alerts';
import { filterIn } from './rule-input';

interface RuleDevicesProps {
  /** Null for all devices, undefined while the JSON is not a filter. */
  readonly devices: DeviceFilter | null | undefined;
  readonly onChange: (devices: DeviceFilter | null | undefined) => void;
}

export function RuleDevices({ devices, onChange }: RuleDevicesProps) {
  const [conditions, setConditions] = useState(() => conditionsIn(devices ?? {}));
  if (!conditions) return <DevicesAsJson devices={devices} onChange={onChange} />;
  const change = (changed: DeviceConditions) => {
    setConditions(changed);
    onChange(filterOf(changed) ?? null);
  };
  return <DevicesByConditions conditions={conditions} onChange={change} />;
}

interface ConditionsProps {
  readonly conditions: DeviceConditions;
  readonly onChange: (conditions: DeviceConditions) => void;
}

function DevicesByConditions({ conditions, onChange }: ConditionsProps) {
  const { t } = useTranslation();
  // The search runs while the user types, so Enter in it does not submit the form.
  const stay = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.type === 'search')
      event.preventDefault();
  };
  return (
    <Stack gap={6} role="group" aria-labelledby="rule-devices" onKeyDown={stay}>
      <Text size="sm" fw={600} id="rule-devices">
        {t('alerts.rule.devices')}
      </Text>
      <FilterBar search={conditions} onChange={(changed) => onChange(conditionsOf({ ...conditions, ...changed }))} />
      {filterOf(conditions) === undefined && (
        <Text size="xs" c="dimmed">
          {t('alerts.rule.everyDevice')}
        </Text>
      )}
    </Stack>
  );
}

function DevicesAsJson({ devices, onChange }: RuleDevicesProps) {
  const { t } = useTranslation();
  const [text, setText] = useState(JSON.stringify(devices));
  return (
    <TextInput
      label={t('alerts.rule.devices')}
      description={t('alerts.rule.devicesHint')}
      value={text}
      error={devices === undefined && t('alerts.rule.devicesWrong')}
      onChange={(event) => {
        setText(event.currentTarget.value);
        onChange(filterIn(event.currentTarget.value));
      }}
    />
  );
}
