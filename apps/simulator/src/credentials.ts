/** Device credentials, made from the fleet-wide secret. [xiaozhi §2.8, §8 point 4] */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DeviceIdentity } from '@flotilla/simulated-device';

const SECRET_FILE = 'device.secret';
/** The user name that an issuer chooses; the hub only checks that the password covers it. */
const USERNAME = Buffer.from(JSON.stringify({ ip: '127.0.0.1' })).toString('base64');

export interface MqttCredentials {
  readonly username: string;
  readonly password: string;
}

/** A fresh login of the device with this client id. */
export function mqttCredentials(secret: string, clientId: string): MqttCredentials {
  return { username: USERNAME, password: mqttPassword(secret, { clientId, username: USERNAME }) };
}

/** Standard base64 of HMAC-SHA256 over `clientId|username`. */
export function mqttPassword(
  secret: string,
  { clientId, username }: { readonly clientId: string; readonly username: string },
): string {
  return createHmac('sha256', secret).update(`${clientId}|${username}`).digest('base64');
}

/** `base64url(HMAC-SHA256(uuid|mac|seconds)).seconds`, valid from now on. */
export function webSocketToken(secret: string, identity: DeviceIdentity, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  const signature = createHmac('sha256', secret)
    .update(`${identity.uuid}|${identity.mac}|${seconds}`)
    .digest('base64url');
  return `${signature}.${seconds}`;
}

/**
 * The fleet's secret: as given, else from the hub's data folder. Reads the file until it exists,
 * because the hub creates it at its first start.
 */
export class FleetSecret {
  #value: string | undefined;
  readonly file: string;

  constructor(given: string | undefined, dataDir: string) {
    this.#value = given || undefined;
    this.file = path.join(dataDir, SECRET_FILE);
  }

  /**
   * Undefined without a secret: devices then connect without credentials. An unreadable file counts
   * as absent.
   */
  read(): string | undefined {
    this.#value ??= readSecretFile(this.file);
    return this.#value;
  }
}

function readSecretFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES'))
      return undefined;
    throw error;
  }
}
