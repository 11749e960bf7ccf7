/** Who may come in. Ways in ask before they answer CONNACK or accept an upgrade; how a device proves itself is the implementation's alone. */
import type { DeviceId } from '@flotilla/mcp';

export type AuthRefusal = 'credentials_missing' | 'credentials_wrong' | 'credentials_expired';

export type AuthVerdict =
  /** `deviceId` where the credentials were issued to one: the connection is that device's, whatever else it says. */
  | { readonly kind: 'granted'; readonly deviceId?: DeviceId }
  /** `message` names the rule that was broken and never what would have been right. */
  | { readonly kind: 'refused'; readonly reason: AuthRefusal; readonly message: string };

/** What an MQTT CONNECT brings. */
export interface MqttCredentials {
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  readonly remoteAddress: string | undefined;
}

/** What a WebSocket handshake brings; `token` is the Authorization header's, without `Bearer`. */
export interface WebSocketCredentials {
  readonly clientId: string;
  readonly deviceId: string;
  readonly token: string | undefined;
  readonly remoteAddress: string | undefined;
}

/** What a microcontroller brings: the id that it was registered with and its token. [mcpu §6.2] */
export interface TokenCredentials {
  readonly deviceId: DeviceId;
  readonly token: string | undefined;
  readonly remoteAddress: string | undefined;
}

/** A rejected promise means that the question could not be decided: the device is told to come back. */
export interface DeviceAuth {
  checkMqtt(credentials: MqttCredentials): AuthVerdict | Promise<AuthVerdict>;
  checkWebSocket(credentials: WebSocketCredentials): AuthVerdict | Promise<AuthVerdict>;
  checkToken(credentials: TokenCredentials): AuthVerdict | Promise<AuthVerdict>;
}

export const granted = { kind: 'granted' } as const satisfies AuthVerdict;

/** Lets everybody in. Only for listeners on loopback: whoever composes the hub checks that. */
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
