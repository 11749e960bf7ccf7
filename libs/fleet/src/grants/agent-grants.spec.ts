import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasScope } from '../people/actor-of-principal.js';
import { roleScopes } from '../people/role-scopes.js';
import { shownName } from './agent-grants.js';
import { agentScopes, grantableScopes } from './agent-scopes.js';

describe('the scopes of an agent', () => {
  const roles = fc.constantFrom('VIEWER', 'OPERATOR', 'FIRMWARE', 'ADMIN');

  it('are never more than the person has or the client asked for, and never ADMIN', () => {
    fc.assert(
      fc.property(roles, fc.array(fc.oneof(fc.constantFrom(...agentScopes, 'ADMIN'), fc.string())), (role, asked) => {
        for (const scope of grantableScopes(asked, role)) {
          expect(asked).toContain(scope);
          expect(hasScope({ scopes: roleScopes[role] }, scope)).toBe(true);
          expect(scope).not.toBe('ADMIN');
        }
      }),
    );
  });

  it('of an administrator are all that exist for agents', () => {
    expect(grantableScopes(agentScopes, 'ADMIN')).toEqual(agentScopes);
    expect(grantableScopes(agentScopes, 'VIEWER')).toEqual(['DEVICES_READ', 'JOBS_READ']);
  });
});

describe('the name of a client', () => {
  it.each([
    ['Garden helper', 'Garden helper'],
    ['  Two\nlines\u0000 ', 'Two lines'],
    ['\u202Eevil\u202C', 'evil'],
    ['', 'agent.example'],
    ['\u200B', 'agent.example'],
    ['x'.repeat(200), 'x'.repeat(60)],
  ])('%j is shown as %j', (name, shown) => {
    expect(shownName(name, 'agent.example')).toBe(shown);
  });
});
