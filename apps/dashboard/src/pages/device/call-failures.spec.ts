import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../hub/mutation-failure';
import { callFailures } from './call-failures';

describe('the failure of a call', () => {
  const failureAfter = (outcome: string, code: string) =>
    refusalOf(callFailures({ callTool: { call: { outcome, error: { code, message: 'Why.' } }, userErrors: [] } }));

  it('does not exist after success', () => {
    expect(callFailures({ callTool: { call: { outcome: 'SUCCEEDED', error: null }, userErrors: [] } })).toEqual([]);
  });

  it('changed nothing if the device refused, or nothing was sent', () => {
    expect(failureAfter('FAILED', 'DEVICE_ERROR')).toMatchObject({ codes: ['DEVICE_ERROR'], isUncertain: false });
    expect(failureAfter('REJECTED', 'DEVICE_OFFLINE').isUncertain).toBe(false);
    expect(failureAfter('NOT_SENT', 'UNAVAILABLE').isUncertain).toBe(false);
  });

  it('may have changed something if its outcome is unknown', () => {
    expect(failureAfter('UNKNOWN', 'TIMEOUT')).toMatchObject({ messages: ['Why.'], isUncertain: true });
  });
});
