/** The devices of a key: the filter in words, how many devices it covers now, and its editor. */
import { SegmentedControl, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { useGroups } from '../../parts/groups/groups';
import { useConditionTexts } from '../devices/condition-text';
import { type DeviceConditions, conditionsOf, filterOf } from '../devices/device-search';
import { FilterBar } from '../devices/filter-bar';
import { DeviceCountDocument } from '../devices/generated/devices';
import { conditionsIn } from '../devices/stored-filter';

interface KeyDevicesProps {
  /** A DeviceFilter; null: the whole fleet. */
  readonly filter: unknown;
}

export function KeyDevices({ filter }: KeyDevicesProps) {
  const { t } = useTranslation();
  const { groups } = useGroups();
  const { textOf } = useConditionTexts(groups);
  if (filter === null) return t('access.wholeFleet');
  const conditions = conditionsIn(filter);
  const text = conditions ? textOf(conditions) || t('access.wholeFleet') : JSON.stringify(filter);
  return (
    <span title={text}>
      {conditions ? (
        <Link to="/devices" search={conditions}>
          {text}
        </Link>
      ) : (
        <code>{text}</code>
      )}
      <CoveredCount filter={filter} />
    </span>
  );
}

function CoveredCount({ filter }: KeyDevicesProps) {
  const { t } = useTranslation();
  const { data } = useHubQuery({
    query: DeviceCountDocument,
    variables: { filter: filter as DeviceConditions },
  });
  const count = data?.fleetSummary.deviceCount;
  if (count === undefined) return null;
  return (
    <span className="soft">
      {t('mark.open')}
      {t('access.devicesNow', { count })}
      {t('mark.close')}
    </span>
  );
}

interface KeyDeviceFieldsProps {
  /** Undefined: the key covers the whole fleet. */
  readonly devices: DeviceConditions | undefined;
  readonly onChange: (devices: DeviceConditions | undefined) => void;
}

/** Chooses between the whole fleet and a filter. */
export function KeyDeviceFields({ devices, onChange }: KeyDeviceFieldsProps) {
  const { t } = useTranslation();
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500} id="key-devices">
        {t('access.devices')}
      </Text>
      <SegmentedControl
        aria-labelledby="key-devices"
        value={devices === undefined ? 'fleet' : 'filter'}
        onChange={(kind) => onChange(kind === 'fleet' ? undefined : {})}
        data={[
          { value: 'fleet', label: t('access.fleetChoice') },
          { value: 'filter', label: t('access.filterChoice') },
        ]}
      />
      {devices !== undefined && (
        <>
          <FilterBar search={devices} onChange={(changed) => onChange(conditionsOf({ ...devices, ...changed }))} />
          <Covered devices={devices} />
        </>
      )}
    </Stack>
  );
}

function Covered({ devices }: { readonly devices: DeviceConditions }) {
  const { t } = useTranslation();
  const filter = filterOf(devices);
  const { data } = useHubQuery({ query: DeviceCountDocument, variables: { filter }, pause: filter === undefined });
  const count = data?.fleetSummary.deviceCount ?? 0;
  if (filter === undefined)
    return (
      <Text size="xs" c="dimmed">
        {t('access.filterNeeded')}
      </Text>
    );
  return (
    <Text size="xs" role="status">
      {data && t('access.covers', { count })} {t('access.filterHint')}
    </Text>
  );
}
