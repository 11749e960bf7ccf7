/**
 * Plans the polls of a microcontroller: the tools whose firmware requests it, and the sample rings
 * of its pins. [mcpu §2.7]
 */
import type { DevicePin } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import type { GatewayLimits } from '../gateway-limits.js';

export interface PlannedPoll {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly everyMs: number;
  /** The pin whose ring is read. */
  readonly pin: DevicePin | undefined;
}

const ringTool = 'get_pin_buffer';
/**
 * The part of a ring's fill time after which it is read, so that consecutive answers overlap and no
 * sample is lost.
 */
const ringPart = 0.75;

export function planPolls(
  { tools, pins = [] }: Pick<ToolSet, 'tools' | 'pins'>,
  { pollIntervalMsMin, pollsPerDeviceMax }: Pick<GatewayLimits, 'pollIntervalMsMin' | 'pollsPerDeviceMax'>,
): readonly PlannedPoll[] {
  const wished = tools.flatMap(({ name, pollingIntervalMs }): PlannedPoll[] =>
    pollingIntervalMs === undefined
      ? []
      : [{ tool: name, arguments: {}, everyMs: Math.max(pollIntervalMsMin, pollingIntervalMs), pin: undefined }],
  );
  const hasRings = tools.some(({ name }) => name === ringTool);
  const rings = (hasRings ? pins : []).flatMap((pin): PlannedPoll[] => {
    const { intervalMs, bufferSize } = pin.sampling ?? {};
    if (intervalMs === undefined || bufferSize === undefined) return [];
    const everyMs = Math.max(pollIntervalMsMin, Math.floor(bufferSize * intervalMs * ringPart));
    return [{ tool: ringTool, arguments: { pin: pin.pin }, everyMs, pin }];
  });
  return [...wished, ...rings].slice(0, pollsPerDeviceMax);
}
