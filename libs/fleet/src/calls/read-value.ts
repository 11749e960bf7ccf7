/**
 * Reads a value of a device with an ordinary call. The read is part of its target and leaves no
 * record.
 */
import type { Job, Readback } from '@flotilla/jobs';
import type { CallId, CallOutcome, DeviceId, HubProcessId } from '@flotilla/mcp';
import { newId } from '../new-id.js';
import type { RunContext } from '../jobs/engine/run-context.js';

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
  deps.bus.calls.deliver(gatewayId, { deviceId, epoch, rights, call }, ({ outcome }) => settle(outcome));
}
