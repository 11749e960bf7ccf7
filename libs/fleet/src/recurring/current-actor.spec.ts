import type { AgentGrantRow, UserRow } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { currentActor } from './current-actor.js';
import type { CallerLookUps } from './current-actor.js';

const NOW = 1_000;
const user = { id: 'u', name: 'Ann', email: 'ann@example.com', role: 'OPERATOR', disabledAt: undefined };
const grant = {
  id: 'g',
  userId: 'u',
  clientName: 'Garden',
  scopes: ['JOBS_WRITE', 'TOOLS_CALL'],
  devices: { tags: ['lab'] },
  expiresAt: NOW + 1,
  revokedAt: undefined,
};

function ask(change: Partial<AgentGrantRow> | 'gone' = {}, person: Partial<UserRow> = {}) {
  const found = change === 'gone' ? undefined : ({ ...grant, ...change } as AgentGrantRow);
  const lookUps: CallerLookUps = {
    apiKeys: { all: async () => [] },
    users: { find: async () => ({ ...user, ...person }) as UserRow },
    agentGrants: { find: async () => found },
  };
  return currentActor(lookUps, 'GRANT:g', NOW);
}

describe('the rights of a connected agent', () => {
  it('are those that its person gave and still has, on the devices of the grant', async () => {
    expect(await ask()).toMatchObject({
      actor: { id: 'GRANT:g', mayCallTools: true, mayCallUserOnly: false, devices: { tags: ['lab'] } },
    });
    expect(await ask({}, { role: 'VIEWER' })).toMatchObject({
      missing: expect.stringContaining('may not create jobs'),
    });
  });

  it.each<[string, Parameters<typeof ask>, string]>([
    ['is gone', ['gone'], 'The agent that saved it is not connected any more.'],
    ['was revoked', [{ revokedAt: 5 }], 'The agent "Garden" that saved it is not connected any more.'],
    ['has expired', [{ expiresAt: NOW }], 'The agent "Garden" that saved it is not connected any more.'],
    ['belongs to a person who was disabled', [{}, { disabledAt: 5 }], 'Ann can no longer sign in.'],
  ])('end when the grant %s', async (_what, change, missing) => {
    expect(await ask(...change)).toEqual({ missing });
  });
});
