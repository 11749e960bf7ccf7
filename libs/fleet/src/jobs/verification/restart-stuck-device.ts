/**
 * A device whose upgrade failed may be stuck in its upgrading state: buttons and wake word are dead, and a restart helps. [xiaozhi §7.6] It is asked once, by
 * whoever decided its target, on the session that the upgrade was sent on.
 */
import type { CallId, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { TargetFlush, VerificationEnd } from '@flotilla/registry';
import { newId } from '../../new-id.js';
import type { RunContext } from '../engine/run-context.js';

export interface StuckDevice {
  readonly deviceId: DeviceId;
  readonly epoch: number;
  readonly gatewayId: HubProcessId;
}

type TargetEnd = TargetFlush['to'] | VerificationEnd['to'];

export function isStuck(to: TargetEnd): boolean {
  return to.kind === 'decided' && to.error?.code === 'UPDATE_DID_NOT_START_OR_FAILED';
}

/** What the error of its target says besides. */
export function withRestartNote<End extends TargetEnd>(to: End): End {
  if (to.kind !== 'decided' || to.error === undefined || !isStuck(to)) return to;
  return { ...to, error: { ...to.error, message: `${to.error.message} ${restartNote}` } };
}

const restartNote = 'The hub asks the device to restart, as it may be stuck in its upgrade.';

/** A present firmware does not answer: the end of its session is the answer. [xiaozhi §4.6] */
const timeoutMs = 30_000;

export function restartStuckDevice({ deps, jobId }: RunContext, { deviceId, epoch, gatewayId }: StuckDevice): void {
  const now = deps.clock.now();
  const call = {
    callId: newId(now) as CallId,
    tool: 'self.reboot',
    arguments: {},
    queueDeadlineAt: now + timeoutMs,
    callTimeoutMs: timeoutMs,
  };
  deps.logger.info({ jobId, deviceId }, 'asks a device to restart after a failed upgrade');
  // The hub's own act, whoever made the job.
  const rights = { mayCallUserOnly: true, mayChangeFirmware: false };
  deps.bus.calls.call(gatewayId, { deviceId, epoch, rights, call }, ({ outcome }) => {
    const isSent = outcome.certainty !== 'NEVER';
    deps.registry.events.append({
      type: 'device.restarted_after_upgrade',
      deviceId,
      at: deps.clock.now(),
      data: { jobId, isSent, outcome: outcome.kind, ...(outcome.error && { code: outcome.error.code }) },
    });
  });
}
