/** The answer to `get_info`: a compile-time name, and the only hint at how long a request may be. [mcpu §2.3] */
import { isJsonObject } from '../json-rpc/json-text.js';
import type { DeviceInfo } from '../tools/tool.js';
import { deviceText } from './device-text.js';

/** UTF-16 code units of a sketch's name or version. */
const profileTextMax = 128;
/** Bytes of a request without its line end: what is longer a board cuts into pieces and refuses each. [mcpu §0] */
const requestBytesOfRich = 511;
const requestBytesOfOthers = 255;

export interface McpuProfile extends DeviceInfo {
  readonly requestBytesMax: number;
}

/** The strictest of profiles: boards of the first firmware do not say which they are. */
export const strictestProfile: McpuProfile = {
  model: undefined,
  firmwareVersion: undefined,
  requestBytesMax: requestBytesOfOthers,
};

/** The name is no identity: a hundred boards with one sketch say the same. */
export function parseMcpuInfo(result: unknown): McpuProfile {
  if (!isJsonObject(result)) return strictestProfile;
  return {
    model: deviceText(result['device'], profileTextMax) || undefined,
    firmwareVersion: deviceText(result['version'], profileTextMax) || undefined,
    requestBytesMax: result['memory_profile'] === 'rich' ? requestBytesOfRich : requestBytesOfOthers,
  };
}
