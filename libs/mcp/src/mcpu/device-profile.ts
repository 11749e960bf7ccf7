/**
 * The answer to `get_info`: a compile-time name and the only indication of the maximum request
 * size. [mcpu §2.3]
 */
import { isJsonObject } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';
import type { DeviceInfo } from '../tools/tool.js';
import { deviceText } from '../device-text.js';

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
    ...startOf(result),
    requestBytesMax: result['memory_profile'] === 'rich' ? requestBytesOfRich : requestBytesOfOthers,
  };
}

/** Sketches may report `uptime` (s) or `uptime_ms`, and `reset_reason`. */
function startOf(result: JsonObject): Pick<DeviceInfo, 'uptimeMs' | 'resetReason'> {
  const { uptime, uptime_ms: uptimeMs } = result;
  const ms = timeOf(uptimeMs, 1) ?? timeOf(uptime, 1_000);
  const resetReason = deviceText(result['reset_reason'], profileTextMax) || undefined;
  return { ...(ms !== undefined && { uptimeMs: ms }), ...(resetReason !== undefined && { resetReason }) };
}

/** In ms; undefined for what is not a plausible time: 100 years are not. */
function timeOf(value: unknown, unitMs: number): number | undefined {
  const ms = typeof value === 'number' ? value * unitMs : -1;
  return ms >= 0 && ms < 3.2e12 ? ms : undefined;
}
