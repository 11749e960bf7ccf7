import { describe, expect, it } from 'vitest';
import { isLastAdmin } from './last-admin';

const active = { role: 'ADMIN', disabledAt: null, hasPassword: true, identityProvider: null } as const;
const ada = { ...active, id: '1', email: 'ada@example.com' };
const invited = { ...ada, id: '2', hasPassword: false };
const unaddressed = { ...ada, id: '4', email: null };
const byProvider = { ...invited, id: '3', identityProvider: 'https://id.example.com' };

describe('the last admin', () => {
  it('is the only one who can sign in: an invited person does not count yet', () => {
    expect(isLastAdmin(ada, [ada, invited])).toBe(true);
    expect(isLastAdmin(ada, [ada, byProvider])).toBe(false);
    expect(isLastAdmin(ada, [ada, { ...byProvider, disabledAt: '2026-06-01T12:00:00Z' }])).toBe(true);
    expect(isLastAdmin(ada, [ada, { ...byProvider, role: 'VIEWER' }])).toBe(true);
  });

  it('is the only one who has an e-mail address for the password, or a provider', () => {
    expect(isLastAdmin(ada, [ada, unaddressed])).toBe(true);
    expect(isLastAdmin(unaddressed, [ada, unaddressed])).toBe(false);
    expect(isLastAdmin(ada, [ada, { ...unaddressed, ...byProvider, email: null }])).toBe(false);
  });

  it('is not an invited person beside another admin', () => {
    expect(isLastAdmin(invited, [ada, invited])).toBe(false);
    expect(isLastAdmin(invited, [invited])).toBe(true);
  });
});
