import type { Principal } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { refuseViewer } from './guard-scopes.js';

const limited: Principal = {
  kind: 'KEY',
  id: '01990000-0000-7000-8000-000000000001',
  name: 'lobby',
  scopes: ['ADMIN'],
  devices: { tags: ['lobby'] },
};

describe('refuseViewer', () => {
  it('says to a limited key with ADMIN that ADMIN counts only without a device filter', () => {
    expect(() => refuseViewer(limited, { name: 'Subscription.sessionLog', scope: 'ADMIN', isFleetWide: true })).toThrow(
      'Subscription.sessionLog needs the scope ADMIN for all devices, and this key is limited to some devices.',
    );
  });

  it('says to a limited key what affects the whole fleet', () => {
    const rule = { name: 'Mutation.blockBoard', scope: 'DEVICES_WRITE', isFleetWide: true } as const;
    expect(() => refuseViewer(limited, rule)).toThrow('Mutation.blockBoard affects the whole fleet');
  });

  it('allows a limited key what is about its devices', () => {
    expect(() =>
      refuseViewer(limited, { name: 'Query.device', scope: 'DEVICES_READ', isFleetWide: false }),
    ).not.toThrow();
  });
});
