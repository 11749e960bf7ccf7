/** How devices authenticate. An ingress asks before it answers CONNACK or accepts an upgrade. */
import type { DeviceId } from '@flotilla/mcp';

export type AuthRefusal = 'credentials_missing' | 'credentials_wrong' | 'credentials_expired';

export type AuthVerdict =
  /** `deviceId` is set if the credentials were issued to one device: then the connection is its. */
  | { readonly kind: 'granted'; readonly deviceId?: DeviceId }
  /** `message` names the broken rule, never the correct value. */
  | { readonly kind: 'refused'; readonly reason: AuthRefusal; readonly message: string };

/** The credentials of an MQTT CONNECT. */
export interface MqttCredentials {
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  readonly remoteAddress: string | undefined;
}

/** The credentials of a WebSocket handshake; `token` comes without `Bearer`. */
export interface WebSocketCredentials {
  readonly clientId: string;
  readonly deviceId: string;
  readonly token: string | undefined;
  readonly remoteAddress: string | undefined;
}

/** The credentials of a microcontroller: its registered id and its token. [mcpu §6.2] */
export interface TokenCredentials {
  readonly deviceId: DeviceId;
  readonly token: string | undefined;
  readonly remoteAddress: string | undefined;
}

/** A rejected promise means that there was no decision: the device should connect again. */
export interface DeviceAuth {
  checkMqtt(credentials: MqttCredentials): AuthVerdict | Promise<AuthVerdict>;
  checkWebSocket(credentials: WebSocketCredentials): AuthVerdict | Promise<AuthVerdict>;
  checkToken(credentials: TokenCredentials): AuthVerdict | Promise<AuthVerdict>;
}

export const granted = { kind: 'granted' } as const satisfies AuthVerdict;

/** Admits every device. Only for listeners on loopback, which the composition of the hub checks. */
export class OpenAuth implements DeviceAuth {
  checkMqtt(): AuthVerdict {
    return granted;
  }

  checkWebSocket(): AuthVerdict {
    return granted;
  }

  checkToken(): AuthVerdict {
    return granted;
  }
}
