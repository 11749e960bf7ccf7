/** A registry with two tool sets and a process with a lease, for specs of devices and sessions. */
import type { DeviceId, ToolSetHash } from '@flotilla/mcp';
import type { ProcessLease, Registry } from '../index.js';
import { openRegistry } from '../index.js';
import type { ConnectingDevice, ReadySession } from '../sessions/session-changes.js';
import { openTestDatabase } from '../test-database.js';

export const AT = Date.UTC(2026, 10, 21, 12);
export const SET_A = 'a'.repeat(64) as ToolSetHash;
export const SET_B = 'b'.repeat(64) as ToolSetHash;

export interface DeviceFixture {
  readonly databaseUrl: string;
  readonly registry: Registry;
  readonly lease: ProcessLease;
  greeted(id: string, epoch: number, toolSetHash?: ToolSetHash, firmwareVersion?: string, at?: number): ReadySession;
  /** Connects the device and makes it ready. Resolves to its epoch. */
  comeOnline(id: string, toolSetHash?: ToolSetHash, firmwareVersion?: string): Promise<number>;
  close(): Promise<void>;
}

export const connecting = (id: string, connectedAt = AT): ConnectingDevice => ({
  deviceId: id as DeviceId,
  dialect: 'XIAOZHI',
  transport: 'MQTT',
  reachability: 'ALWAYS',
  remoteAddress: '127.0.0.1:1',
  connectedAt,
});

export async function openDeviceFixture(): Promise<DeviceFixture> {
  const database = await openTestDatabase();
  const registry = await openRegistry({ databaseUrl: database.databaseUrl });
  const lease = await registry.takeLease();
  const tool = { description: 'd', inputSchema: { type: 'object' }, userOnly: false, schemaKnown: true };
  await registry.toolSets.ensure({
    hash: SET_A,
    tools: [
      { ...tool, name: 'lamp.on' },
      { ...tool, name: 'lamp.off' },
    ],
  });
  await registry.toolSets.ensure({
    hash: SET_B,
    tools: [
      { ...tool, name: 'lamp.on', description: 'other' },
      { ...tool, name: 'lamp.blink', schemaKnown: false },
    ],
  });
  const greeted = (
    id: string,
    epoch: number,
    toolSetHash: ToolSetHash | undefined = SET_A,
    firmwareVersion = '1.9.0',
    at = AT + 1,
  ) => ({
    deviceId: id as DeviceId,
    epoch,
    gatewayId: lease.id,
    model: 'board',
    firmwareVersion,
    toolSetHash,
    toolsComplete: true,
    at,
  });
  return {
    databaseUrl: database.databaseUrl,
    registry,
    lease,
    greeted,
    comeOnline: async (id, toolSetHash = SET_A, firmwareVersion = '1.9.0') => {
      const { epoch } = await registry.devices.connect(connecting(id));
      await registry.devices.ready(greeted(id, epoch, toolSetHash, firmwareVersion));
      return epoch;
    },
    close: async () => {
      await registry.close();
      await database.close();
    },
  };
}
