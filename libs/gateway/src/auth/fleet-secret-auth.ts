/**
 * One secret for a fleet of an existing gateway: MQTT passwords and WebSocket tokens are HMACs of
 * device ids. Single devices cannot be revoked: that needs their own credentials.
 * [xiaozhi §2.8, §8]
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { granted } from './device-auth.js';
import type { AuthRefusal, AuthVerdict, DeviceAuth, MqttCredentials, WebSocketCredentials } from './device-auth.js';

/** Tokens are renewed at each start only, so they must outlive the longest uptime. [xiaozhi §8] */
const TOKEN_AGE_MS_MAX = 30 * 24 * 60 * 60 * 1000;
/** How far the issuer's clock may be ahead. */
const TOKEN_SKEW_MS_MAX = 5 * 60 * 1000;
/** Base64url of 32 bytes without padding, a dot, and Unix seconds. */
const tokenPattern = /^([A-Za-z0-9_-]{43})\.(\d{1,12})$/;

export class FleetSecretAuth implements DeviceAuth {
  /** Created once: creating it from text for each login takes four times as long. */
  readonly #key: KeyObject;

  constructor(private readonly options: { readonly secret: string; readonly clock: { now(): number } }) {
    this.#key = createSecretKey(options.secret, 'utf8');
  }

  checkMqtt(credentials: MqttCredentials): AuthVerdict {
    const { clientId, username, password } = credentials;
    if (username === undefined || username === '' || password === undefined || password.length === 0)
      return refused('credentials_missing', 'MQTT user name and password are required');
    const expected = this.#sign(`${clientId}|${username}`).toString('base64');
    return isEqual(password, expected)
      ? granted
      : refused('credentials_wrong', 'the MQTT password is not the one of this client id and user name');
  }

  checkWebSocket(credentials: WebSocketCredentials): AuthVerdict {
    const { clientId, deviceId, token } = credentials;
    if (token === undefined || token === '')
      return refused('credentials_missing', 'an Authorization header with a bearer token is required');
    const [, signature, seconds] = tokenPattern.exec(token) ?? [];
    if (signature === undefined || seconds === undefined)
      return refused('credentials_wrong', 'the token does not have the form <signature>.<unix seconds>');
    const expected = this.#sign(`${clientId}|${deviceId}|${seconds}`).toString('base64url');
    if (!isEqual(Buffer.from(signature), expected))
      return refused('credentials_wrong', 'the token is not the one of this Client-Id and Device-Id');
    return this.#checkAge(Number(seconds) * 1000);
  }

  /** Existing gateways issue to xiaozhi devices only. */
  checkToken(): AuthVerdict {
    return refused('credentials_wrong', 'microcontrollers need their own credentials');
  }

  #checkAge(issuedAt: number): AuthVerdict {
    const ageMs = this.options.clock.now() - issuedAt;
    if (ageMs > TOKEN_AGE_MS_MAX) return refused('credentials_expired', 'the token is older than 30 days');
    if (ageMs < -TOKEN_SKEW_MS_MAX) return refused('credentials_wrong', 'the token is dated in the future');
    return granted;
  }

  #sign(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

/** Compares in a time that depends only on the lengths, which are not secret. */
function isEqual(given: Uint8Array, expected: string): boolean {
  const wanted = Buffer.from(expected);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function refused(reason: AuthRefusal, message: string): AuthVerdict {
  return { kind: 'refused', reason, message };
}
