/**
 * Credentials of devices under the fleet-wide secret, as issuers create them. [xiaozhi §2.8, §8
 * point 4]
 */
import { createHmac } from 'node:crypto';

export const someUuid = '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21';

/** The client id of a xiaozhi device; `group` distinguishes two ids of one MAC. */
export function clientIdOf(mac: string, group = 'GID_story'): string {
  return `${group}@@@${mac.replaceAll(':', '_')}@@@${someUuid}`;
}

/** User name and password of this client id. */
export function mqttLogin(secret: string, clientId: string): { readonly username: string; readonly password: Buffer } {
  const username = Buffer.from('{"ip":"192.0.2.44"}').toString('base64');
  return {
    username,
    password: Buffer.from(createHmac('sha256', secret).update(`${clientId}|${username}`).digest('base64')),
  };
}

/** Headers of the WebSocket handshake. `issuedAt` in ms: a token is good for 30 days from then. */
export function webSocketHeaders(secret: string, mac: string, issuedAt = Date.now()): Readonly<Record<string, string>> {
  const seconds = Math.floor(issuedAt / 1000);
  const signature = createHmac('sha256', secret).update(`${someUuid}|${mac}|${seconds}`).digest('base64url');
  return {
    'device-id': mac,
    'client-id': someUuid,
    'protocol-version': '1',
    authorization: `Bearer ${signature}.${seconds}`,
  };
}
