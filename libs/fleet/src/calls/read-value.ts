/** Reads a value of a device with an ordinary call, which leaves no record. */
import type { Job, Readback } from '@flotilla/jobs';
import type { CallId, CallOutcome, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { newId } from '../new-id.js';
import type { JobBus } from '../jobs/job-bus.js';

interface ReadDeps {
  readonly bus: Pick<JobBus, 'calls'>;
  readonly clock: Pick<Clock, 'now'>;
}

interface ReadableDevice {
  readonly deviceId: DeviceId;
  readonly epoch: number;
  readonly gatewayId: HubProcessId;
}

export function readValue(
  { bus, clock }: ReadDeps,
  { deviceId, epoch, gatewayId }: ReadableDevice,
  { tool, callTimeoutMs, mayCallUserOnly }: Pick<Readback, 'tool'> & Pick<Job, 'callTimeoutMs' | 'mayCallUserOnly'>,
  settle: (outcome: CallOutcome) => void,
): void {
  const now = clock.now();
  const call = {
    callId: newId(now) as CallId,
    tool,
    arguments: {},
    queueDeadlineAt: now + callTimeoutMs,
    callTimeoutMs,
  };
  const rights = { mayCallUserOnly, mayChangeFirmware: false };
  bus.calls.deliver(gatewayId, { deviceId, epoch, rights, call }, ({ outcome }) => settle(outcome));
}
