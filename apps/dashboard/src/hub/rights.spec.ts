import { describe, expect, it } from 'vitest';
import { hasFleetScope, hasScope, mayCallInJobs, mayRollOut, mayStartJobs, maySteerJob } from './rights';
import type { Scope } from './session';

const withScopes = (...scopes: readonly Scope[]) => ({ scopes, devices: null as unknown });

describe('the rights of a viewer', () => {
  it('are all scopes with ADMIN', () => {
    expect(hasScope(withScopes('ADMIN'), 'JOBS_WRITE')).toBe(true);
    expect(hasScope(withScopes('JOBS_READ'), 'JOBS_WRITE')).toBe(false);
  });

  it('do not reach beyond the devices of a limited key', () => {
    const viewer = withScopes('DEVICES_WRITE');
    expect(hasFleetScope(viewer, 'DEVICES_WRITE')).toBe(true);
    expect(hasFleetScope({ ...viewer, devices: { tags: ['lobby'] } }, 'DEVICES_WRITE')).toBe(false);
    expect(hasFleetScope(viewer, 'FIRMWARE_WRITE')).toBe(false);
  });

  it('of ADMIN itself are not for a limited key, which has the other scopes', () => {
    const limited = { ...withScopes('ADMIN'), devices: { tags: ['lobby'] } };
    expect(hasScope(withScopes('ADMIN'), 'ADMIN')).toBe(true);
    expect(hasScope(limited, 'ADMIN')).toBe(false);
    expect(hasScope(limited, 'JOBS_WRITE')).toBe(true);
  });

  it('to steer a job are the word of the hub, which only a limited key waits for', () => {
    const viewer = withScopes('JOBS_WRITE');
    const limited = { ...viewer, devices: { tags: ['lobby'] } };
    expect(maySteerJob(viewer, undefined)).toBe(true);
    expect(maySteerJob(limited, undefined)).toBeUndefined();
    expect([true, false].map((said) => maySteerJob(limited, said))).toEqual([true, false]);
    expect(maySteerJob(withScopes('JOBS_READ'), undefined)).toBeUndefined();
  });

  it.each<readonly [kind: string, scopes: readonly Scope[], mayCall: boolean, mayRoll: boolean]>([
    ['steering only', ['JOBS_READ', 'JOBS_WRITE'], false, false],
    ['calls without jobs', ['JOBS_READ', 'TOOLS_CALL', 'FIRMWARE_WRITE', 'TOOLS_CALL_PRIVILEGED'], false, false],
    ['an operator', ['JOBS_READ', 'JOBS_WRITE', 'TOOLS_CALL'], true, false],
    ['images without user-only tools', ['JOBS_READ', 'JOBS_WRITE', 'FIRMWARE_WRITE'], false, false],
    ['roll-outs', ['JOBS_READ', 'JOBS_WRITE', 'FIRMWARE_WRITE', 'TOOLS_CALL_PRIVILEGED'], false, true],
    ['jobs that stay unseen', ['JOBS_WRITE', 'TOOLS_CALL'], false, false],
    ['an admin', ['ADMIN'], true, true],
  ])('allow new jobs only with the scopes for what these do: %s', (_kind, scopes, mayCall, mayRoll) => {
    const viewer = withScopes(...scopes);
    expect([mayCallInJobs(viewer), mayRollOut(viewer)]).toEqual([mayCall, mayRoll]);
    expect(mayStartJobs(viewer)).toBe(mayCall || mayRoll);
  });
});
