import { describe, expect, it } from 'vitest';
import { FlotillaError, type FlotillaClient } from '@flotilla/client';
import { argumentsForDevice, argumentsForFleet } from './tool-arguments.js';

const words = { kind: 'words', words: ['ms=200'] } as const;

/** A client of a fleet whose devices have these versions of one tool. */
function fleetWith(...nodes: readonly { readonly inputSchema: object; readonly schemaKnown: boolean }[]) {
  return { request: () => Promise.resolve({ tools: { nodes } }) } as unknown as FlotillaClient;
}

describe('arguments for many devices', () => {
  it('are typed by the schema that all of them have', async () => {
    const fleet = fleetWith({ inputSchema: { properties: { ms: { type: 'string' } } }, schemaKnown: true });
    expect(await argumentsForFleet(fleet, 'buzz', words)).toEqual({ ms: '200' });
  });

  it('are left to the hub where boards did not say which arguments the tool has', async () => {
    const fleet = fleetWith({ inputSchema: { type: 'object', 'x-params-unknown': true }, schemaKnown: false });
    expect(await argumentsForFleet(fleet, 'buzz', words)).toEqual({ ms: 200 });
  });

  it('are left to the hub where devices have several schemas', async () => {
    const [one, other] = [{ properties: {} }, { properties: { seconds: { type: 'integer' } } }];
    const fleet = fleetWith({ inputSchema: one, schemaKnown: true }, { inputSchema: other, schemaKnown: true });
    expect(await argumentsForFleet(fleet, 'buzz', words)).toEqual({ ms: 200 });
  });
});

describe('arguments of a key that may not read tools', () => {
  const client = (code: string) =>
    ({ request: () => Promise.reject(new FlotillaError(code, 'no')) }) as unknown as FlotillaClient;

  it('are left to the hub', async () => {
    expect(await argumentsForDevice(client('FORBIDDEN'), 'lamp', 'buzz', words)).toEqual({ ms: 200 });
    expect(await argumentsForFleet(client('FORBIDDEN'), 'buzz', words)).toEqual({ ms: 200 });
  });

  it('are not sent after another failure', async () => {
    await expect(argumentsForFleet(client('UNREACHABLE'), 'buzz', words)).rejects.toThrow('no');
  });
});
