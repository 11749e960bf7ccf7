/** Which side of a device is looked at, as the address carries it. */
import { type ChartPeriod, chartPeriods } from '../../parts/chart/chart-period';

export const deviceTabs = ['tools', 'measurements', 'pictures', 'calls', 'events', 'history', 'pins', 'log'] as const;
export type DeviceTab = (typeof deviceTabs)[number];

interface DeviceTabSearch {
  readonly tab?: DeviceTab;
  /** Of the charts of measurements. */
  readonly period?: ChartPeriod;
  /** Of the large chart. */
  readonly path?: string;
}

export function parseDeviceTab({ tab, period, path }: Readonly<Record<string, unknown>>): DeviceTabSearch {
  const knownTab = deviceTabs.find((name) => name === tab);
  const knownPeriod = chartPeriods.find((name) => name === period);
  return {
    ...(knownTab && { tab: knownTab }),
    ...(knownPeriod && { period: knownPeriod }),
    ...(typeof path === 'string' && path !== '' && { path }),
  };
}
