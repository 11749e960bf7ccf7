/** The initial values of a new job in the wizard's address: selected devices, a tool, an image. */
import { type DeviceSearch, parseDeviceSearch } from '../devices/device-search';

export interface NewJobSearch {
  readonly devices?: DeviceSearch;
  readonly ids?: readonly string[];
  readonly tool?: string;
  readonly firmwareImageId?: string;
}

export function parseNewJobSearch({
  devices,
  ids,
  tool,
  firmwareImageId,
}: Readonly<Record<string, unknown>>): NewJobSearch {
  const chosen = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  return {
    ...(typeof devices === 'object' && devices !== null && { devices: parseDeviceSearch({ ...devices }) }),
    ...(chosen.length > 0 && { ids: chosen }),
    ...(typeof tool === 'string' && { tool }),
    ...(typeof firmwareImageId === 'string' && { firmwareImageId }),
  };
}
