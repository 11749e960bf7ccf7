/**
 * The answer to `get_info`: a compile-time name and the only indication of the maximum request
 * size. [mcpu §2.3]
 */
import { isJsonObject } from '../json-rpc/json-text.js';
import type { DeviceInfo } from '../tools/tool.js';
import { deviceText } from './device-text.js';

/** UTF-16 code units of the name or version of a sketch. */
const profileTextMax = 128;
/** Bytes of a request without its line end. Boards split longer requests. [mcpu §0] */
const requestBytesOfRich = 511;
const requestBytesOfOthers = 255;

export interface McpuProfile extends DeviceInfo {
  readonly requestBytesMax: number;
}

/** The strictest profile, used for boards of the first firmware, which report none. */
export const strictestProfile: McpuProfile = {
  model: undefined,
  firmwareVersion: undefined,
  requestBytesMax: requestBytesOfOthers,
};

/** The name does not identify a board: all boards with the same sketch report the same name. */
export function parseMcpuInfo(result: unknown): McpuProfile {
  if (!isJsonObject(result)) return strictestProfile;
  return {
    model: deviceText(result['device'], profileTextMax) || undefined,
    firmwareVersion: deviceText(result['version'], profileTextMax) || undefined,
    requestBytesMax: result['memory_profile'] === 'rich' ? requestBytesOfRich : requestBytesOfOthers,
  };
}
