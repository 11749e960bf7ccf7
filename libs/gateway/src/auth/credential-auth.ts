/**
 * Credentials of single devices, as the OTA endpoint issued them. A known device that fails to
 * authenticate is an event: only a person can issue new credentials for it.
 */
import type { DeviceId, IncomingTransport } from '@flotilla/mcp';
import { parseDeviceIdHeader } from '@flotilla/mcp';
import type { CredentialStore, CredentialVerdict } from '@flotilla/registry';
import { LRUCache } from 'lru-cache';
import { granted } from './device-auth.js';
import type {
  AuthVerdict,
  DeviceAuth,
  MqttCredentials,
  TokenCredentials,
  WebSocketCredentials,
} from './device-auth.js';
import type { EventLog } from '../sessions/event-log.js';

interface CredentialAuthOptions {
  readonly credentials: Pick<CredentialStore, 'checkMqtt' | 'checkWebSocket' | 'checkToken'>;
  readonly events: EventLog;
  /** Whether the credential is void because the board went back to its former server. */
  readonly isReleased?: ((deviceId: DeviceId) => Promise<boolean>) | undefined;
  readonly clock: { now(): number };
}

/** A refused device connects again every 10 s, so one event a minute is enough. */
const REFUSAL_EVENT_EVERY_MS = 60_000;
/** Maximum of devices whose last event is remembered. */
const REFUSED_MAX = 10_000;

export class CredentialAuth implements DeviceAuth {
  /** When the last event of a device was written. */
  readonly #refusedAt = new LRUCache<DeviceId, number>({ max: REFUSED_MAX });

  constructor(private readonly options: CredentialAuthOptions) {}

  checkMqtt({ clientId, username, password, remoteAddress }: MqttCredentials): AuthVerdict | Promise<AuthVerdict> {
    if (username === undefined || username === '' || password === undefined || password.length === 0)
      return refused('credentials_missing', 'MQTT user name and password are required');
    return this.#judge(this.options.credentials.checkMqtt({ clientId, username, password }), {
      transport: 'MQTT',
      remoteAddress,
    });
  }

  checkWebSocket({
    clientId,
    deviceId,
    token,
    remoteAddress,
  }: WebSocketCredentials): AuthVerdict | Promise<AuthVerdict> {
    const identity = parseDeviceIdHeader(deviceId);
    if (token === undefined || token === '') return tokenMissing;
    if (!identity.ok) return refused('credentials_wrong', identity.problem);
    const login = { deviceId: identity.deviceId, clientUuid: clientId, token, remoteAddress };
    return this.#judge(this.options.credentials.checkWebSocket(login), { transport: 'WEBSOCKET', remoteAddress });
  }

  checkToken({ deviceId, token, remoteAddress }: TokenCredentials): AuthVerdict | Promise<AuthVerdict> {
    if (token === undefined || token === '') return tokenMissing;
    return this.#judge(this.options.credentials.checkToken({ deviceId, token }), {
      transport: 'WEBSOCKET',
      remoteAddress,
    });
  }

  async #judge(asked: Promise<CredentialVerdict>, attempt: Attempt): Promise<AuthVerdict> {
    const verdict = await asked;
    if (verdict.kind === 'granted') {
      const { deviceId, hasBound } = verdict;
      if (hasBound)
        this.options.events.write('enrolment.approved', deviceId, {
          by: 'token',
          remoteAddress: attempt.remoteAddress ?? null,
        });
      return { ...granted, deviceId };
    }
    if (verdict.deviceId !== undefined) await this.#report(verdict.deviceId, attempt);
    return refused('credentials_wrong', 'these credentials are not valid for this device');
  }

  async #report(deviceId: DeviceId, { transport, remoteAddress }: Attempt): Promise<void> {
    const now = this.options.clock.now();
    const lastAt = this.#refusedAt.get(deviceId) ?? Number.NEGATIVE_INFINITY;
    // It is later than now if the clock was set back.
    if (lastAt <= now && now - lastAt <= REFUSAL_EVENT_EVERY_MS) return;
    this.#refusedAt.set(deviceId, now);
    const isReleased = await this.options.isReleased?.(deviceId).catch(() => false);
    const advice = isReleased === true ? adviceReleased : adviceRotate;
    this.options.events.write('device.auth_refused', deviceId, {
      transport,
      remoteAddress: remoteAddress ?? null,
      advice,
    });
  }
}

const adviceRotate = 'If this is the device itself, issue a new credential with rotateDeviceCredential and restart it.';
const adviceReleased =
  'The board was moved back to its former server, and uses settings of this hub that it stored before. ' +
  'Restart it when that server answers, or move it here again.';

interface Attempt {
  readonly transport: IncomingTransport;
  readonly remoteAddress: string | undefined;
}

const tokenMissing = refused('credentials_missing', 'an Authorization header with a bearer token is required');

function refused(reason: 'credentials_missing' | 'credentials_wrong', message: string): AuthVerdict {
  return { kind: 'refused', reason, message };
}
