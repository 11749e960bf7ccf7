/** With what the form of a new desired state begins, as its address carries it. */
import { type DeviceSearch, parseDeviceSearch } from '../../devices/device-search';

export interface NewDesiredSearch {
  readonly tool?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly devices?: DeviceSearch;
}

export function parseNewDesiredSearch(raw: Readonly<Record<string, unknown>>): NewDesiredSearch {
  const { tool, devices, arguments: given } = raw;
  return {
    ...(typeof tool === 'string' && { tool }),
    ...(isRecord(given) && { arguments: given }),
    ...(isRecord(devices) && { devices: parseDeviceSearch(devices) }),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
