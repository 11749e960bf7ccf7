import type { HubProcessId, SendCertainty, CallErrorCode } from '@flotilla/mcp';
import { expect, it } from 'vitest';
import type { JobBus } from '../jobs/job-bus.js';
import { observeJobCalls } from './observe-calls.js';

type Deliver = JobBus['calls']['deliver'];

/** The outcome that is observed for a call that ends unknown with this code. */
function observed(code: CallErrorCode, verifiesRestart: boolean): readonly string[] {
  const outcomes: string[] = [];
  const outcome = { kind: 'UNKNOWN', certainty: 'YES' as SendCertainty, error: { code, message: '' } } as const;
  const calls = { deliver: ((_gateway, _routed, settle) => settle({ outcome } as never)) satisfies Deliver };
  const bus = observeJobCalls({ calls } as unknown as JobBus, (_origin, name) => void outcomes.push(name));
  const routed = { deviceId: 'd1', call: { tool: 'self.upgrade_firmware' } } as unknown as Parameters<Deliver>[1];
  bus.calls.deliver('g1' as HubProcessId, routed, () => undefined, verifiesRestart);
  return outcomes;
}

it('does not count a restart without an answer as unknown: the job verifies it', () => {
  expect(observed('SESSION_CLOSED', true)).toEqual(['RESTARTED']);
  expect(observed('TIMEOUT', true)).toEqual(['UNKNOWN']);
  expect(observed('GATEWAY_UNREACHABLE', true)).toEqual(['UNKNOWN']);
  expect(observed('SESSION_CLOSED', false)).toEqual(['UNKNOWN']);
});
