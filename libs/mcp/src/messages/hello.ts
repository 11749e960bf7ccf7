/**
 * The hello with which a device opens a conversation, and the answers of the hub on both
 * transports. [xiaozhi §1.3, §2.4]
 */
import type { JsonObject } from '../json-rpc/json-text.js';

/** The content of a device's hello. `transport` is `udp` if the hello came over MQTT. */
export interface DeviceHello {
  readonly transport: 'websocket' | 'udp';
  /** The framing of audio. */
  readonly version: 1 | 2 | 3;
  /** False for very old firmware, whose tools cannot be called. [xiaozhi §9, 28] */
  readonly hasMcp: boolean;
}

type ParsedHello =
  { readonly ok: true; readonly hello: DeviceHello } | { readonly ok: false; readonly problem: string };

export function parseDeviceHello(message: JsonObject): ParsedHello {
  const { transport, features } = message;
  if (transport !== 'websocket' && transport !== 'udp') {
    return { ok: false, problem: 'hello: "transport" must be "websocket" or "udp"' };
  }
  const version = message['version'] ?? (transport === 'udp' ? 3 : 1);
  if (version !== 1 && version !== 2 && version !== 3)
    return { ok: false, problem: 'hello: "version" must be 1, 2 or 3' };
  const hasMcp = typeof features === 'object' && features !== null && 'mcp' in features && features.mcp === true;
  return { ok: true, hello: { transport, version, hasMcp } };
}

/** Audio parameters of the hub. Devices use the last two, with these values as defaults. */
const audioParams = { format: 'opus', sample_rate: 24_000, channels: 1, frame_duration: 60 } as const;

/** The answer on WebSocket. Devices crash if the string `transport` is missing. */
export function websocketServerHello(sessionId: string): JsonObject {
  return { type: 'hello', transport: 'websocket', session_id: sessionId, audio_params: audioParams };
}

/**
 * The UDP address for the audio of an MQTT device. `key` and `nonce` have 32 hex digits; the nonce
 * begins with 01. [xiaozhi §2.5]
 */
interface UdpChannel {
  readonly server: string;
  readonly port: number;
  readonly key: string;
  readonly nonce: string;
}

/** The answer over MQTT. */
export function udpServerHello(sessionId: string, channel: UdpChannel): JsonObject {
  const { server, port, key, nonce } = channel;
  return {
    type: 'hello',
    version: 3,
    transport: 'udp',
    session_id: sessionId,
    audio_params: audioParams,
    udp: { server, port, encryption: 'aes-128-ctr', key, nonce },
  };
}
