import type { DeviceId, JsonObject } from '@flotilla/mcp';
import type { SessionActor } from '@flotilla/session';
import type { ConversationHost, ConversingDevice, KnownDevice } from '../conversations/conversation-host.js';
import type { LostConversations } from '../conversations/lost-conversations.js';
import { DeviceConversations } from '../conversations/device-conversations.js';
import type { DeviceConversationsOptions } from '../conversations/device-conversations.js';
import type { DeviceConnection } from './session-host.js';

interface ConversingSession extends Pick<ConversingDevice, 'known' | 'report'> {
  readonly connection: DeviceConnection;
  readonly actor: SessionActor;
  readonly onSessionId: DeviceConversationsOptions['onSessionId'];
}

/** The conversations of a session, which are heard over its connection. */
export function openConversations(
  context: DeviceConversationsOptions['limiting'] & {
    readonly conversations: ConversationHost;
    readonly lostConversations: LostConversations;
  },
  session: ConversingSession,
): DeviceConversations {
  const device = new ConnectedDevice(session);
  const transport = session.connection.kind === 'WEBSOCKET' ? 'WEBSOCKET' : 'MQTT';
  const { conversations: host, lostConversations: lost } = context;
  return new DeviceConversations({
    host,
    device,
    transport,
    lost,
    onSessionId: session.onSessionId,
    limiting: context,
  });
}

/** A literal with these members and a getter would take 1.3 KB more per device. */
class ConnectedDevice implements ConversingDevice {
  constructor(private readonly session: ConversingSession) {}

  get deviceId(): DeviceId {
    return this.session.connection.deviceId;
  }

  get clientId(): string | undefined {
    return this.session.connection.clientId;
  }

  get remoteAddress(): string | undefined {
    return this.session.connection.remoteAddress;
  }

  get localAddress(): string | undefined {
    return this.session.connection.localAddress;
  }

  get unsentBytes(): number {
    return this.session.connection.audio?.unsentBytes ?? 0;
  }

  known(): KnownDevice {
    return this.session.known();
  }

  pendingCalls(): number {
    return this.session.actor.pendingCalls;
  }

  say(message: JsonObject): boolean {
    return this.session.actor.sendMessage(message);
  }

  sendAudio(frame: Uint8Array): boolean {
    return this.session.connection.audio?.sendFrame(frame) ?? false;
  }

  hangUp(reason: 'no_voice' | 'conversation_ended'): void {
    if (this.session.connection.kind === 'WEBSOCKET') this.session.actor.close(reason);
  }

  report(data: JsonObject): void {
    this.session.report(data);
  }
}
