/**
 * What the specs of provisioning share: a registry on a real PostgreSQL, devices as their OTA
 * requests show them, and ways to log in.
 */
import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import pg from 'pg';
import { openRegistry } from '../open-registry.js';
import type { CredentialVerdict, KnownDevice, OtaContact } from './provisioning.js';
import type { Registry } from '../registry.js';
import { openTestDatabase } from '../test-database.js';

export interface ProvisioningFixture {
  readonly registry: Registry;
  /** Another hub process on the same database. */
  readonly other: Registry;
  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): Promise<void>;
}

export async function openProvisioning(): Promise<ProvisioningFixture> {
  const { databaseUrl, close } = await openTestDatabase();
  const registry = await openRegistry({ databaseUrl });
  const other = await openRegistry({ databaseUrl, poolMax: 4 });
  return {
    registry,
    other,
    sql: async (text) => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(text)).rows;
      } finally {
        await client.end();
      }
    },
    close: async () => {
      await other.close();
      await registry.close();
      await close();
    },
  };
}

let macs = 0;

/** An unknown device. */
export function newContact(change: Partial<OtaContact> = {}): OtaContact {
  macs += 1;
  const digits = macs.toString(16).padStart(6, '0');
  return {
    deviceId: `02:5e:7a:${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4)}` as DeviceId,
    clientUuid: randomUUID(),
    model: 'lichuang-dev',
    firmwareVersion: '2.4.2',
    remoteAddress: '192.0.2.44',
    at: Date.now(),
    ...change,
  };
}

/** Logs in over MQTT with what an OTA answer gave the device; `change` is what it gets wrong. */
export function logIn(
  registry: Registry,
  { credential }: Pick<KnownDevice, 'credential'>,
  change: { readonly clientId?: string; readonly username?: string; readonly password?: string } = {},
): Promise<CredentialVerdict> {
  return registry.credentials.checkMqtt({
    clientId: change.clientId ?? credential.mqttClientId,
    username: change.username ?? credential.mqttUsername,
    password: Buffer.from(change.password ?? credential.secret ?? ''),
  });
}

export async function admitted(registry: Registry, contact: OtaContact): Promise<KnownDevice> {
  const known = await registry.enrolments.admit(contact);
  if (known === undefined) throw new TypeError(`${contact.deviceId} was not admitted.`);
  return known;
}
