import type { ToolPolicy } from '@flotilla/jobs';
import { describe, expect, it } from 'vitest';
import { policyOf } from './tool-policy.js';

function policy(pattern: string): ToolPolicy {
  return {
    pattern,
    idempotent: true,
    disruptive: false,
    disconnectExpected: false,
    verification: 'NONE',
    readback: undefined,
    failureText: undefined,
    callTimeoutMs: 60_000,
  };
}

const policies = ['self.*', 'self.get_*', 'self.get_status', 'get_*'].map(policy);

describe('policyOf', () => {
  it.each([
    ['self.reboot', 'self.*'],
    ['self.get_volume', 'self.get_*'],
    ['self.get_status', 'self.get_status'],
    ['self.get_status_long', 'self.get_*'],
    ['get_info', 'get_*'],
  ])('takes the longest pattern for %s', (tool, pattern) => {
    expect(policyOf(tool, policies).pattern).toBe(pattern);
  });

  it('promises nothing of a tool that no pattern fits', () => {
    expect(policyOf('robot.walk', policies)).toMatchObject({ pattern: '*', idempotent: false });
  });
});
