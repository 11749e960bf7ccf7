/** A read of what a device shows, over the ordinary road of a call. It leaves no record of its own: it is a part of its target. */
import type { Job, Readback } from '@flotilla/jobs';
import type { CallId, CallOutcome, DeviceId, HubProcessId } from '@flotilla/mcp';
import { newId } from '../../new-id.js';
import type { RunContext } from '../engine/run-context.js';

export interface ReadableDevice {
  readonly deviceId: DeviceId;
  readonly epoch: number;
  readonly gatewayId: HubProcessId;
}

export function readValue(
  { deps }: RunContext,
  { deviceId, epoch, gatewayId }: ReadableDevice,
  { tool, callTimeoutMs, mayCallUserOnly }: Pick<Readback, 'tool'> & Pick<Job, 'callTimeoutMs' | 'mayCallUserOnly'>,
  settle: (outcome: CallOutcome) => void,
): void {
  const now = deps.clock.now();
  const call = {
    callId: newId(now) as CallId,
    tool,
    arguments: {},
    queueDeadlineAt: now + callTimeoutMs,
    callTimeoutMs,
  };
  const rights = { mayCallUserOnly, mayChangeFirmware: false };
  deps.bus.calls.call(gatewayId, { deviceId, epoch, rights, call }, ({ outcome }) => settle(outcome));
}
