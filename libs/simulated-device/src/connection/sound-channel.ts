/** The channel for sound of a device on MQTT, as the hello was answered. [xiaozhi §2.5] */
import { FirmwareObject } from '../json/firmware-json.js';

export interface SoundChannel {
  readonly server: string;
  readonly port: number;
  /** 32 hex digits each. */
  readonly key: string;
  readonly nonce: string;
}

const HEX_16_BYTES = /^[0-9a-fA-F]{32}$/;

/** Undefined where the answer names none. */
export function soundChannel(udp: unknown): SoundChannel | undefined {
  if (!(udp instanceof FirmwareObject)) return undefined;
  const [server, port, key, nonce] = [udp.get('server'), udp.get('port'), udp.get('key'), udp.get('nonce')];
  if (typeof server !== 'string' || typeof port !== 'number' || port < 1 || port > 65_535) return undefined;
  if (typeof key !== 'string' || typeof nonce !== 'string' || ![key, nonce].every((hex) => HEX_16_BYTES.test(hex)))
    return undefined;
  return { server, port, key, nonce };
}
