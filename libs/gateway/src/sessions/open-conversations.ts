import type { SessionActor } from '@flotilla/session';
import type { ConversationHost, ConversingDevice } from '../conversations/conversation-host.js';
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
  { connection, actor, known, report, onSessionId }: ConversingSession,
): DeviceConversations {
  const { audio, clientId, deviceId, kind, localAddress, remoteAddress } = connection;
  const device: ConversingDevice = {
    deviceId,
    clientId,
    localAddress,
    remoteAddress,
    get unsentBytes() {
      return audio?.unsentBytes ?? 0;
    },
    known,
    pendingCalls: () => actor.pendingCalls,
    say: (message) => actor.sendMessage(message),
    sendAudio: (frame) => audio?.sendFrame(frame) ?? false,
    hangUp: (reason) => {
      if (kind === 'WEBSOCKET') actor.close(reason);
    },
    report,
  };
  const transport = kind === 'WEBSOCKET' ? 'WEBSOCKET' : 'MQTT';
  const { conversations: host, lostConversations: lost } = context;
  return new DeviceConversations({ host, device, transport, lost, onSessionId, limiting: context });
}
