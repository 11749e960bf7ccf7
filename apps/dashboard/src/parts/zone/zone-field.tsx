/** Chooses a time zone: the browser's, the hub's, or any other by a search for its name. */
import { useMemo } from 'react';
import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useViewer } from '../../hub/hub';
import { timeZones, viewerZone } from './time-zones';

interface ZoneFieldProps extends Pick<
  SelectProps,
  'label' | 'description' | 'placeholder' | 'error' | 'w' | 'clearable'
> {
  /** IANA name; empty if none is chosen. */
  readonly value: string;
  readonly onChange: (zone: string) => void;
}

export function ZoneField({ value, onChange, ...props }: ZoneFieldProps) {
  const { t } = useTranslation();
  const { hubTimeZone } = useViewer();
  const data = useMemo(() => {
    const browser = viewerZone();
    const first = [
      { value: browser, label: t('zone.browser', { zone: browser }) },
      ...(hubTimeZone === browser ? [] : [{ value: hubTimeZone, label: t('zone.hub', { zone: hubTimeZone }) }]),
    ];
    const named = [...new Set([...timeZones(), ...(value === '' ? [] : [value])])].filter(
      (zone) => zone !== browser && zone !== hubTimeZone,
    );
    return [
      { group: t('zone.usual'), items: first },
      { group: t('zone.named'), items: named },
    ];
  }, [t, hubTimeZone, value]);
  return (
    <Select
      searchable
      nothingFoundMessage={t('zone.notFound')}
      data={data}
      value={value || null}
      onChange={(zone) => onChange(zone ?? '')}
      {...props}
    />
  );
}
