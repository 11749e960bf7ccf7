/**
 * The answer to an OTA request. No member of it may abort the firmware: the device writes it to
 * flash before any check, and the next boot would get the same answer. [xiaozhi §7.3]
 */
import type { KnownDevice } from '@flotilla/registry';
import type { DeviceAddresses, ReachedAt } from '../device-addresses.js';
import { serverTime } from './server-time.js';
import type { ServerTime } from './server-time.js';
import type { FirmwareAnswer } from './firmware-answer.js';

/**
 * Settings that a device stores: names of at most 15 characters, short strings, each name with one
 * type for ever. A missing member keeps its old value.
 */
export type TransportSettings = Readonly<Record<string, string | number>>;

/**
 * Seconds between keep-alive messages. The hub notices a half-open connection after 1.5 times this;
 * the firmware's default is 240. [xiaozhi §2.3]
 */
const KEEPALIVE_SECONDS = 45;
/** The framing of audio on a WebSocket: plain Opus frames. [xiaozhi §1.4] */
const WEBSOCKET_VERSION = 1;
/** Parsed by the device but not used. [xiaozhi §7.4] */
const ACTIVATION_TIMEOUT_MS = 30_000;

/** The customary topic to which all devices publish. */
export const defaultPublishTopic = 'device-server';

export interface OtaAnswer {
  readonly server_time: ServerTime;
  readonly firmware: FirmwareAnswer;
  readonly mqtt?: TransportSettings;
  readonly websocket?: TransportSettings;
  readonly activation?: {
    readonly message: string;
    readonly code: string;
    readonly challenge: string;
    readonly timeout_ms: number;
  };
}

/** The values that all answers of one hub share. */
export interface AnswerSettings {
  readonly addresses: DeviceAddresses;
  readonly publishTopic: string;
  /** The time zone of devices without their own. */
  readonly timeZone: string | undefined;
}

export interface Answered {
  readonly now: number;
  readonly reached: ReachedAt;
  readonly firmware: FirmwareAnswer;
}

/** For an admitted device. Omits the secret after its first use: the device has stored it. */
export function answerKnown(
  settings: AnswerSettings,
  known: KnownDevice,
  { now, reached, firmware }: Answered,
): OtaAnswer {
  return {
    server_time: serverTime(now, [known.timeZone, settings.timeZone]),
    firmware,
    ...transportObject(settings, known, reached),
  };
}

/** For a device that waits: the address, a code to show and a challenge, but no credential. */
export function answerWaiting(
  settings: AnswerSettings,
  pending: { readonly code: string; readonly challenge: string },
  { now, reached, firmware }: Answered,
): OtaAnswer {
  return {
    server_time: serverTime(now, [settings.timeZone]),
    firmware,
    ...strangerTransport(settings, reached),
    activation: {
      message: `Flotilla\n${pending.code}`,
      code: pending.code,
      challenge: pending.challenge,
      timeout_ms: ACTIVATION_TIMEOUT_MS,
    },
  };
}

/** For a request without ids: only public values, and nothing that keeps a device from starting. */
export function answerAnonymous(settings: AnswerSettings, { now, reached, firmware }: Answered): OtaAnswer {
  return { server_time: serverTime(now, [settings.timeZone]), firmware, ...strangerTransport(settings, reached) };
}

/**
 * Exactly one of the two objects: with both, the device would use MQTT; with none, its stored
 * settings. A hub without MQTT sends every device to its WebSocket.
 */
export function transportObject(
  settings: Pick<AnswerSettings, 'addresses' | 'publishTopic'>,
  known: KnownDevice,
  reached?: ReachedAt,
): { readonly mqtt: TransportSettings } | { readonly websocket: TransportSettings } {
  if (known.transport === 'MQTT' && settings.addresses.hasMqtt) return { mqtt: mqttSettings(settings, known, reached) };
  return { websocket: webSocketSettings(settings, known.credential.secret, reached) };
}

/** The same without a credential. */
function strangerTransport(settings: AnswerSettings, reached: ReachedAt): Pick<OtaAnswer, 'mqtt' | 'websocket'> {
  if (settings.addresses.hasMqtt) return { mqtt: mqttSettings(settings, undefined, reached) };
  return { websocket: webSocketSettings(settings, undefined, reached) };
}

function webSocketSettings(
  { addresses }: Pick<AnswerSettings, 'addresses'>,
  token: string | undefined,
  reached?: ReachedAt,
): TransportSettings {
  const url = addresses.webSocketUrl(reached);
  return { ...(url !== undefined && { url }), ...(token !== undefined && { token }), version: WEBSOCKET_VERSION };
}

function mqttSettings(
  { addresses, publishTopic }: Pick<AnswerSettings, 'addresses' | 'publishTopic'>,
  known: KnownDevice | undefined,
  reached?: ReachedAt,
): TransportSettings {
  const endpoint = addresses.mqttEndpoint(reached, known?.deviceId);
  const login = known && {
    client_id: known.credential.mqttClientId,
    username: known.credential.mqttUsername,
    ...(known.credential.secret !== undefined && { password: known.credential.secret }),
  };
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...login,
    publish_topic: publishTopic,
    // Not read by current firmware; firmware before 2025 expects it.
    subscribe_topic: 'null',
    keepalive: KEEPALIVE_SECONDS,
  };
}
