/**
 * Asks a device whose upgrade failed to restart, on the session of the upgrade. In its upgrading
 * state buttons and wake word would stay dead. [xiaozhi §7.6]
 */
import type { StuckDevice } from '@flotilla/jobs';
import type { CallId } from '@flotilla/mcp';
import { newId } from '../../new-id.js';
import { writeEvent } from '../../write-event.js';
import type { RunContext } from '../engine/run-context.js';

/** Current firmware does not answer: the end of its session is the answer. [xiaozhi §4.6] */
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
  // The hub acts here, with rights that the creator of the job may not have.
  const rights = { mayCallUserOnly: true, mayChangeFirmware: false };
  deps.bus.calls.deliver(gatewayId, { deviceId, epoch, rights, call }, ({ outcome }) => {
    const isSent = outcome.certainty !== 'NEVER';
    const data = { jobId, isSent, outcome: outcome.kind, ...(outcome.error && { code: outcome.error.code }) };
    writeEvent(deps, 'device.restarted_after_upgrade', deviceId, data);
  });
}
