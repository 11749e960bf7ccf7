/** What a new job begins with, as the address of the wizard carries it: devices that were chosen elsewhere, a tool, an image. */
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
