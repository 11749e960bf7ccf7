import { readFileSync } from 'node:fs';
import type { Principal, Scope } from '@flotilla/registry';
import { buildSchema, graphql } from 'graphql';
import { describe, expect, it } from 'vitest';
import { guardScopes, refuseViewer } from './guard-scopes.js';

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

describe('a list that shows objects of another scope', () => {
  const schema = guardScopes(buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')));
  const device = { id: 'lamp' };
  const alert = { id: 'a', device, devices: [device], deviceCount: 1 };
  const rootValue = {
    jobs: { nodes: [{ id: 'j', firmwareImage: { version: '2.0.0' } }] },
    alerts: { nodes: [alert] },
    previewDesiredState: { sample: [device] },
  };
  const ask = async (source: string, scopes: readonly Scope[]) => {
    const viewer: Principal = { kind: 'KEY', id: 'k', name: 'k', scopes };
    return JSON.parse(
      JSON.stringify(await graphql({ schema, source, rootValue, contextValue: { viewer } })),
    ) as unknown;
  };

  it('stays readable, without these objects', async () => {
    expect(await ask('{ jobs { nodes { id firmwareImage { version } } } }', ['JOBS_READ'])).toEqual({
      data: { jobs: { nodes: [{ id: 'j', firmwareImage: null }] } },
    });
    expect(await ask('{ alerts { nodes { deviceCount device { id } devices { id } } } }', ['EVENTS_READ'])).toEqual({
      data: { alerts: { nodes: [{ deviceCount: 1, device: null, devices: [] }] } },
    });
    const preview =
      '{ previewDesiredState(input: {name: "n", tool: "t", devices: {}, arguments: {}}) { sample { id } } }';
    expect(await ask(preview, ['JOBS_READ'])).toEqual({
      data: { previewDesiredState: { sample: [] } },
    });
  });

  it('has them with the other scope', async () => {
    expect(await ask('{ jobs { nodes { id firmwareImage { version } } } }', ['JOBS_READ', 'DEVICES_READ'])).toEqual({
      data: { jobs: rootValue.jobs },
    });
  });
});
