/** Secrets that all processes of a hub share, and the keys that follow from them. None of these keys is in the database. */
import { hkdfSync } from 'node:crypto';
import type { HubConfig } from './config.js';
import { keepSecret, readSecret } from '../secrets/secret-file.js';
import { textOfLength } from './setting-kinds.js';

export const secretSettings = {
  FLOTILLA_AUDIT_KEY: textOfLength(32),
};

type Config = Pick<HubConfig, 'auditKey' | 'dataDir' | 'deviceSecret' | 'roles'>;

/** Of a process that does everything. */
const ROLES = 3;

/** Processes of one role each would make keys of their own in their data folders. */
export function secretContradictions({ auditKey, deviceSecret, roles }: Config): string[] {
  if (roles.length === ROLES || roles.length === 0 || auditKey !== undefined || deviceSecret !== undefined) return [];
  return [
    'FLOTILLA_ROLES splits the hub over processes, which then need one FLOTILLA_AUDIT_KEY or FLOTILLA_DEVICE_SECRET in common.',
  ];
}

const AUDIT_KEY_FILE = 'audit.key';

/** What the audit chain is keyed with. */
export async function auditSecretOf(config: Config): Promise<string | Uint8Array> {
  return givenAuditSecret(config) ?? (await keepSecret(config.dataDir, AUDIT_KEY_FILE));
}

/** The same for a program that only reads: a new key would fit no entry. */
export async function knownAuditSecret(config: Config): Promise<string | Uint8Array> {
  const secret = givenAuditSecret(config) ?? (await readSecret(config.dataDir, AUDIT_KEY_FILE));
  if (secret !== undefined) return secret;
  throw new Error(
    `there is no ${AUDIT_KEY_FILE} in ${config.dataDir}. Give the FLOTILLA_AUDIT_KEY or the data folder of the hub.`,
  );
}

function givenAuditSecret({ auditKey, deviceSecret }: Config): string | Uint8Array | undefined {
  return auditKey ?? (deviceSecret === undefined ? undefined : derived(deviceSecret, 'flotilla audit chain'));
}

/** What the secret arguments of jobs are encrypted with until they are sent. */
export async function argumentsSecretOf({ auditKey, dataDir, deviceSecret }: Config): Promise<Uint8Array> {
  const secret = deviceSecret ?? auditKey ?? (await keepSecret(dataDir, 'device.secret'));
  return derived(secret, 'flotilla job arguments');
}

/** A key for one purpose, from which neither the secret nor the key of another purpose follows. */
function derived(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
}
