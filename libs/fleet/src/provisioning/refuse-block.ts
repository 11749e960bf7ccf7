/** Checks the block of a board: a MAC address, and an end that is not past. */
import { parseDeviceIdHeader, type DeviceId } from '@flotilla/mcp';
import { refuse, type Refusal } from '../refusal.js';

export interface BlockRequest {
  readonly deviceId: string;
  /** Milliseconds since the Unix epoch; undefined: until the board is unblocked. */
  readonly until?: number | undefined;
}

/** A longer block has no end in practice, and says so. */
const blockDaysMax = 3_660;

export function parseBlock(
  { deviceId, until }: BlockRequest,
  now: number,
): { readonly deviceId: DeviceId } | { readonly refusal: Refusal } {
  const identity = parseDeviceIdHeader(deviceId);
  if (!identity.ok) {
    const message = `"${deviceId.slice(0, 80)}" is not a MAC address, for example 02:5e:7a:10:c4:9f.`;
    return { refusal: refuse('INVALID', ['deviceId'], message) };
  }
  if (until !== undefined && until <= now)
    return { refusal: refuse('INVALID', ['until'], 'The block would have ended already. Give a later time.') };
  if (until !== undefined && until - now > blockDaysMax * 86_400_000) {
    const message = `A block with an end lasts at most ${String(blockDaysMax)} days. Leave \`until\` out for no end.`;
    return { refusal: refuse('LIMIT_EXCEEDED', ['until'], message) };
  }
  return { deviceId: identity.deviceId };
}
