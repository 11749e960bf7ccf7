import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiContext } from '../api-context.js';
import type { FleetOperations, ProvisioningOperations } from '../fleet-operations.js';
import { DeviceMutationsResolver } from './device-mutations.resolver.js';

const device = { id: 'lamp', name: 'Hall' };
const context = {
  viewer: { kind: 'KEY', id: 'key', name: 'key', scopes: ['ADMIN'] },
  view: { devices: { update: async () => device } },
} as unknown as ApiContext;
const input = { deviceId: 'lamp', name: 'Hall', transport: 'WEBSOCKET' } as const;
let published: unknown[];

beforeEach(() => (published = []));

const update = (setDeviceTransport: () => Promise<object>) => {
  const provisioning = { refuseDialled: async () => undefined, setDeviceTransport };
  const feed = { publish: (...message: unknown[]) => void published.push(message) };
  const resolver = new DeviceMutationsResolver(
    {} as FleetOperations,
    provisioning as unknown as ProvisioningOperations,
    feed as never,
  );
  return resolver.updateDevice(undefined, { input }, context);
};

describe('updateDevice with another transport', () => {
  it('says so where the device was removed before its transport was set', async () => {
    const refusal = { code: 'NOT_FOUND', message: 'There is no device "lamp".', path: ['input', 'deviceId'] };
    expect(await update(async () => ({ refusal }))).toEqual({ userErrors: [refusal] });
    expect(await update(async () => ({}))).toEqual({ device, userErrors: [] });
  });

  it('announces the new name also where the transport could not be set', async () => {
    await expect(update(() => Promise.reject(new Error('PostgreSQL is away.')))).rejects.toThrow('away');
    expect(published).toEqual([['device', { deviceId: 'lamp' }]]);
  });
});
