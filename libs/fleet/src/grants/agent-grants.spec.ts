import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TokenHolder } from '@flotilla/registry';
import { realClock } from '../fleet-fixture.suite.js';
import { hasScope } from '../people/actor-of-principal.js';
import { roleScopes } from '../people/role-scopes.js';
import { AgentGrants, shownName } from './agent-grants.js';
import type { AgentGrantsDeps } from './agent-grants.js';
import { agentScopes, grantableScopes } from './agent-scopes.js';
import { defaultGrantLimits } from './grant-limits.js';

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
    expect(grantableScopes(agentScopes, 'VIEWER')).toEqual(['DEVICES_READ', 'JOBS_READ', 'EVENTS_READ']);
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

describe('a token', () => {
  const resource = 'https://hub.example/mcp';
  const holder: TokenHolder = {
    grantId: 'g',
    clientName: 'Agent',
    scopes: ['DEVICES_READ', 'TOOLS_CALL'],
    granted: ['DEVICES_READ', 'TOOLS_CALL'],
    devices: undefined,
    audience: resource,
    user: { id: 'u', email: 'ann@example.com', role: 'OPERATOR' },
  };
  const verdict = (change: Partial<TokenHolder> | undefined, audience = resource) => {
    const found = change === undefined ? undefined : { ...holder, ...change };
    const registry = { agentGrants: { authenticate: async () => found } } as unknown as AgentGrantsDeps['registry'];
    const bus = {} as unknown as AgentGrantsDeps['bus'];
    return new AgentGrants({ registry, bus, clock: realClock, limits: defaultGrantLimits }).whoIs('token', audience);
  };

  it('names the person and the client, and owns what the person owns', async () => {
    expect(await verdict({ devices: { tags: ['lab'] } })).toEqual({
      kind: 'valid',
      principal: {
        kind: 'GRANT',
        id: 'g',
        scopes: ['DEVICES_READ', 'TOOLS_CALL'],
        devices: { tags: ['lab'] },
        name: 'ann@example.com via Agent',
        owner: 'USER:u',
      },
    });
  });

  it('is refused for another resource, and with more rights than the person has', async () => {
    expect(await verdict(undefined)).toEqual({ kind: 'unknown' });
    expect(await verdict({}, 'https://other.example/mcp')).toEqual({ kind: 'foreign' });
    expect(await verdict({ user: { ...holder.user, role: 'VIEWER' } })).toEqual({ kind: 'narrowed' });
    expect(await verdict({ scopes: [] })).toEqual({ kind: 'narrowed' });
    expect(await verdict({ user: { ...holder.user, role: 'ADMIN' } })).toMatchObject({ kind: 'valid' });
  });

  it.each([{ scopes: ['TOOLS_CALL'] }, { scopes: [] }] as const)(
    'cannot be refreshed where the person keeps no scope of the grant: %j',
    async (token) => {
      const change = { ...token, granted: ['TOOLS_CALL'] } as const;
      expect(await verdict({ ...change, user: { ...holder.user, role: 'VIEWER' } })).toEqual({ kind: 'powerless' });
    },
  );
});
