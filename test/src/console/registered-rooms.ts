/** Devices of a hotel with many rooms, some of them suites. */
import { expect } from 'vitest';
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

const batch = 1_000;

/** Known to the hub, and not there yet. */
export async function registerRooms(hub: HubProcess, registered: number): Promise<void> {
  const mutation =
    'mutation ($input: [RegisterDeviceInput!]!) { registerDevices(input: $input) { userErrors { message } } }';
  for (let first = 0; first < registered; first += batch) {
    const input = Array.from({ length: batch }, (_, index) => {
      const number = first + index;
      const [high, low] = [number >> 8, number & 255].map((byte) => byte.toString(16).padStart(2, '0'));
      const id = `02:0a:00:00:${high}:${low}`;
      return {
        deviceId: id,
        name: `Room ${String(number).padStart(4, '0')}`,
        tags: [number % 50 === 0 ? 'suite' : 'room'],
        dialect: 'XIAOZHI',
      };
    });
    const { registerDevices: answer } = await ask<{ registerDevices: { userErrors: readonly unknown[] } }>(
      hub,
      mutation,
      { input },
    );
    expect(answer.userErrors).toEqual([]);
  }
}

export async function registerDevice(hub: HubProcess, input: object): Promise<void> {
  const mutation =
    'mutation ($input: [RegisterDeviceInput!]!) { registerDevices(input: $input) { userErrors { code } } }';
  await ask(hub, mutation, { input: [{ dialect: 'XIAOZHI', ...input }] });
}

export async function updateDevice(hub: HubProcess, input: object): Promise<void> {
  const mutation = 'mutation ($input: UpdateDeviceInput!) { updateDevice(input: $input) { userErrors { code } } }';
  await ask(hub, mutation, { input });
}
