/**
 * Secrets that all processes of a hub share, and keys derived from them. None of them is in the
 * database.
 */
import { hkdfSync } from 'node:crypto';
import { auditKeyOf } from '@flotilla/registry';
import { keepSecret, readSecret } from '../secrets/secret-file.js';
import { checked, line, textOfLength } from './setting-kinds.js';

export const secretSettings = {
  FLOTILLA_ADMIN_KEY: checked(adminKeyProblem, line),
  FLOTILLA_AUDIT_KEY: textOfLength(32),
};

interface SecretConfig {
  readonly auditKey: string | undefined;
  readonly dataDir: string;
  readonly deviceSecret: string | undefined;
  readonly roles: readonly string[];
}

/**
 * A client sends the key in a header, which carries letters of Latin-1. The API looks up keys of
 * this length only.
 */
function adminKeyProblem(text: string): string | undefined {
  if (text.length < 32) return 'must have at least 32 characters';
  if (text.length > 512) return 'must have at most 512 characters';
  return /^[\x21-\x7e\xa1-\xff]+$/.test(text)
    ? undefined
    : 'must have no spaces, no control characters, and no letters outside of Latin-1, because no header carries them';
}

/** The number of roles. */
const ROLES = 3;

/** Without a common secret, each process would create a different key in its data folder. */
export function secretContradictions({ auditKey, deviceSecret, roles }: SecretConfig): string[] {
  if (roles.length === ROLES || roles.length === 0 || auditKey !== undefined || deviceSecret !== undefined) return [];
  return [
    'FLOTILLA_ROLES splits the hub over processes. Set the same FLOTILLA_AUDIT_KEY or FLOTILLA_DEVICE_SECRET in all.',
  ];
}

const AUDIT_KEY_FILE = 'audit.key';
const DEVICE_SECRET_FILE = 'device.secret';
/** The purpose of a derived key. */
const JOB_ARGUMENTS = 'flotilla job arguments';

/** Returns the key of the audit chain. */
export async function auditSecretOf(config: SecretConfig): Promise<string | Uint8Array> {
  return givenAuditSecret(config) ?? (await keepSecret(config.dataDir, AUDIT_KEY_FILE));
}

/** Returns the key for a program that only reads. A new key would match no entry. */
export async function knownAuditSecret(config: SecretConfig): Promise<string | Uint8Array> {
  const secret = givenAuditSecret(config) ?? (await readSecret(config.dataDir, AUDIT_KEY_FILE));
  if (secret !== undefined) return secret;
  throw new Error(
    `there is no ${AUDIT_KEY_FILE} in ${config.dataDir}. Set FLOTILLA_AUDIT_KEY, or the FLOTILLA_DATA_DIR of the hub.`,
  );
}

/** What proves that two hubs use the same keys. It discloses nothing about them. */
interface KeyIds {
  readonly audit: string | undefined;
  readonly arguments: string | undefined;
}

/** The ids of the keys that a hub has with these settings and secret files. */
export async function keyIdsOf(
  config: SecretConfig,
  fileNamed: (name: string) => Promise<string | undefined>,
): Promise<KeyIds> {
  const idOf = (secret: string | Uint8Array | undefined) => (secret === undefined ? undefined : auditKeyOf(secret).id);
  const deviceSecret = config.deviceSecret ?? config.auditKey ?? (await fileNamed(DEVICE_SECRET_FILE));
  return {
    audit: idOf(givenAuditSecret(config) ?? (await fileNamed(AUDIT_KEY_FILE))),
    arguments: idOf(deviceSecret && derived(deviceSecret, JOB_ARGUMENTS)),
  };
}

function givenAuditSecret({ auditKey, deviceSecret }: SecretConfig): string | Uint8Array | undefined {
  return auditKey ?? (deviceSecret === undefined ? undefined : derived(deviceSecret, 'flotilla audit chain'));
}

/** Returns the key that encrypts stored secret arguments, and the settings of channels. */
export async function argumentsSecretOf({ auditKey, dataDir, deviceSecret }: SecretConfig): Promise<Uint8Array> {
  const secret = deviceSecret ?? auditKey ?? (await keepSecret(dataDir, DEVICE_SECRET_FILE));
  return derived(secret, JOB_ARGUMENTS);
}

/** Returns the name of the hub, in all its processes, in requests to this former server. */
export function pseudonymOf(deviceSecret: string, otaUpstream: string): string {
  const key = derived(deviceSecret, `flotilla former server ${otaUpstream}`);
  return `flotilla-${Buffer.from(key).toString('hex').slice(0, 16)}`;
}

/** Derives a key for one purpose. It reveals neither the secret nor the other keys. */
function derived(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
}
