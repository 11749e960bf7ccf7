/** With what the form of a new desired state begins, as its address carries it. */
import { type DeviceSearch, parseDeviceSearch } from '../../devices/device-search';
import { isObject } from '../../../parts/unknown-values';

export interface NewDesiredSearch {
  readonly tool?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly devices?: DeviceSearch;
}

export function parseNewDesiredSearch(raw: Readonly<Record<string, unknown>>): NewDesiredSearch {
  const { tool, devices, arguments: given } = raw;
  return {
    ...(typeof tool === 'string' && { tool }),
    ...(isObject(given) && { arguments: given }),
    ...(isObject(devices) && { devices: parseDeviceSearch(devices) }),
  };
}

/** Characters: a reload sends the address, and proxies refuse request lines of more than 8 KB. */
const charactersMax = 7_500;

/** Whether an address can carry it: not more than about 200 single devices, or long arguments. */
export function fitsAddress(search: NewDesiredSearch): boolean {
  return encodeURIComponent(JSON.stringify(search)).length <= charactersMax;
}
