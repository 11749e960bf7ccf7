/** The selected devices in words: their number as the hub knows it now, and the names of some. */
import { useTranslation } from 'react-i18next';
import { Loader } from '@mantine/core';
import { useHubQuery } from '../../../hub/use-hub-query';
import type { DeviceFilter } from '../generated/devices';
import { ChosenDevicesDocument } from '../generated/many-devices';

interface ChosenDevices {
  /** Undefined while the hub is asked. */
  readonly count: number | undefined;
  readonly names: readonly string[];
  readonly refresh: () => void;
}

export function useChosenDevices(filter: DeviceFilter): ChosenDevices {
  const { data, refresh } = useHubQuery({ query: ChosenDevicesDocument, variables: { filter } });
  return {
    count: data?.fleetSummary.deviceCount,
    names: (data?.devices.nodes ?? []).map(({ id, name }) => name ?? id),
    refresh,
  };
}

export function DevicesInWords({ chosen: { count, names } }: { readonly chosen: ChosenDevices }) {
  const { t, i18n } = useTranslation();
  if (count === undefined) return <Loader aria-label={t('common.loading')} />;
  const rest = count - names.length;
  const parts = rest > 0 ? [...names, t('selection.others', { count: rest })] : names;
  return <p style={{ margin: 0, overflowWrap: 'anywhere' }}>{new Intl.ListFormat(i18n.language).format(parts)}</p>;
}
