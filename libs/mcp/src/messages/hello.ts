/** The hello with which a device opens a conversation, and the hub's answers to it on both transports. [xiaozhi §1.3, §2.4] */
import type { JsonObject } from '../json-rpc/json-text.js';

/** What a device's hello asks for: `websocket` on that transport, `udp` where it came over MQTT. */
export interface DeviceHello {
  readonly transport: 'websocket' | 'udp';
  /** Framing of audio. */
  readonly version: 1 | 2 | 3;
  /** Very old firmware has no MCP; there is nothing to call then. [xiaozhi §9, 28] */
  readonly hasMcp: boolean;
}

export type ParsedHello =
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

/** What the hub's audio would have: devices take the last two, and assume these very values where they are missing. */
const audioParams = { format: 'opus', sample_rate: 24_000, channels: 1, frame_duration: 60 } as const;

/** The answer on WebSocket. Devices without a string `transport` in it crash, so it is not the caller's to choose. */
export function websocketServerHello(sessionId: string): JsonObject {
  return { type: 'hello', transport: 'websocket', session_id: sessionId, audio_params: audioParams };
}

/** Where audio of an MQTT device would go. `key` and `nonce` are 32 hex digits each; the nonce begins with 01. [xiaozhi §2.5] */
export interface UdpChannel {
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
