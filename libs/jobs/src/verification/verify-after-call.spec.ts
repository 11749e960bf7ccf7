import type { CallOutcome } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { verifyAfterCall, verifyAfterLateAnswer } from './verify-after-call.js';

const answered: CallOutcome = {
  kind: 'SUCCEEDED',
  certainty: 'YES',
  result: { content: [{ type: 'text', text: 'true' }], isError: false },
};
const failed: CallOutcome = { kind: 'FAILED', certainty: 'YES', error: { code: 'DEVICE_ERROR', message: 'no' } };
const silent: CallOutcome = { kind: 'UNKNOWN', certainty: 'YES', error: { code: 'TIMEOUT', message: 'no answer' } };
const unsent: CallOutcome = {
  kind: 'NOT_SENT',
  certainty: 'NEVER',
  error: { code: 'DEVICE_OFFLINE', message: 'gone' },
};
const ended = (outcome: CallOutcome, durationMs = 100, baselineVersion: string | undefined = '2.4.2') => ({
  outcome,
  durationMs,
  baselineVersion,
});
const didNotStart = {
  kind: 'decided',
  decision: { outcome: 'VERIFY_FAILED', error: { code: 'UPDATE_DID_NOT_START_OR_FAILED' } },
};

describe('verifyAfterCall', () => {
  it.each(['READBACK', 'REBOOT', 'FIRMWARE'] as const)(
    'verifies (%s) what was answered or may have run, and nothing else',
    (verification) => {
      expect(verifyAfterCall({ verification }, ended(answered))).toEqual({ kind: 'verify', error: undefined });
      expect(verifyAfterCall({ verification }, ended(silent, 60_000))).toEqual({ kind: 'verify', error: silent.error });
      expect(verifyAfterCall({ verification }, ended(failed))).toEqual({ kind: 'callDecides' });
      expect(verifyAfterCall({ verification }, ended(unsent))).toEqual({ kind: 'callDecides' });
    },
  );

  it('leaves tools without a verification alone', () => {
    for (const outcome of [answered, failed, silent, unsent])
      expect(verifyAfterCall({ verification: 'NONE' }, ended(outcome))).toEqual({ kind: 'callDecides' });
  });

  it('takes the answer of an upgrade for a failure, but for firmware that answers at once', () => {
    const upgrade = { verification: 'FIRMWARE' } as const;
    expect(verifyAfterCall(upgrade, ended(answered, 7_000))).toMatchObject(didNotStart);
    expect(verifyAfterCall(upgrade, ended(answered, 7_000, undefined))).toMatchObject(didNotStart);
    for (const version of ['2.0.1', '2.0.5', '2.0.3-rc1']) {
      expect(verifyAfterCall(upgrade, ended(answered, 7_000, version))).toEqual({ kind: 'verify', error: undefined });
    }
    for (const version of ['2.0.0', '2.0.10', '2.1.0'])
      expect(verifyAfterCall(upgrade, ended(answered, 7_000, version))).toMatchObject(didNotStart);
  });

  it('reads an answer that comes after the deadline in the same way', () => {
    expect(verifyAfterLateAnswer({ verification: 'FIRMWARE' }, ended(answered, 70_000))).toMatchObject(didNotStart);
    expect(verifyAfterLateAnswer({ verification: 'FIRMWARE' }, ended(answered, 70_000, '2.0.4'))).toEqual({
      kind: 'pending',
    });
    expect(verifyAfterLateAnswer({ verification: 'REBOOT' }, ended(answered, 70_000))).toEqual({ kind: 'pending' });
  });
});
