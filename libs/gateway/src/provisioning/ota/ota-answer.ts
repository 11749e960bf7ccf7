/**
 * The answer to an OTA request, built so that no member of it can abort the firmware: what it stores goes to flash before anything checks it, and the next boot would get
 * the same. [xiaozhi §7.3]
 */
import type { KnownDevice } from '@flotilla/registry';
import type { DeviceAddresses, ReachedAt } from '../device-addresses.js';
import { serverTime } from './server-time.js';
import type { ServerTime } from './server-time.js';
import type { FirmwareAnswer } from './firmware-answer.js';

/** What a device stores: names of at most 15 characters, strings far below 4,000 bytes, each of one type for ever. A member left out keeps its old value. */
export type TransportSettings = Readonly<Record<string, string | number>>;

/** Seconds between signs of life. Half-open connections are noticed after one and a half of it; the firmware's own default is 240. [xiaozhi §2.3] */
const KEEPALIVE_SECONDS = 45;
/** Framing of audio on a WebSocket: plain Opus frames. [xiaozhi §1.4] */
const WEBSOCKET_VERSION = 1;
/** Parsed by the device and not used. [xiaozhi §7.4] */
const ACTIVATION_TIMEOUT_MS = 30_000;

/** The topic that all devices publish to, as it is customary. */
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

/** What answers have in common on one hub. */
export interface AnswerSettings {
  readonly addresses: DeviceAddresses;
  readonly publishTopic: string;
  /** Zone of devices that have none of their own. */
  readonly timeZone: string | undefined;
}

export interface Answered {
  readonly now: number;
  readonly reached: ReachedAt;
  readonly firmware: FirmwareAnswer;
}

/** For a device that is let in. Its secret is there until it was used, and afterwards left out: the device keeps what it has. */
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

/** For a device that waits: where to come, a code to show and a challenge to ask about, but nothing that would let it in. */
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

/** For somebody who does not say who it is: nothing that is not public, and nothing that holds a device back. */
export function answerNobody(settings: AnswerSettings, { now, reached, firmware }: Answered): OtaAnswer {
  return { server_time: serverTime(now, [settings.timeZone]), firmware, ...strangerTransport(settings, reached) };
}

/**
 * Exactly one of the two objects: with both the device would take MQTT, with none it would come up with what it has. A hub without MQTT sends every device to its WebSocket.
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
  const endpoint = addresses.mqttEndpoint(reached);
  const login = known && {
    client_id: known.credential.mqttClientId,
    username: known.credential.mqttUsername,
    ...(known.credential.secret !== undefined && { password: known.credential.secret }),
  };
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...login,
    publish_topic: publishTopic,
    // Never read by today's firmware; that of before 2025 expects it.
    subscribe_topic: 'null',
    keepalive: KEEPALIVE_SECONDS,
  };
}
