/**
 * Conversations of a hub without a voice service. Devices accept only a complete answer, over MQTT
 * with a UDP address. So they receive one, and a moment later an alert and a goodbye.
 * [xiaozhi §2.4, §2.6]
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { alertMessage, goodbyeMessage, udpServerHello, websocketServerHello } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { nonceOf } from '@flotilla/voice';
import type {
  Conversation,
  ConversationHost,
  ConversationRequest,
  ConversingDevice,
  HelloAnswer,
} from './conversation-host.js';
import { SilentSocket } from './silent-socket.js';
import { udpHostFor } from './udp-host.js';
import type { UdpHosts } from './udp-host.js';

interface NoVoiceOptions {
  readonly clock: Clock;
  readonly udpPort: () => number;
  readonly hosts: UdpHosts;
  /** A WebSocket without calls for so long is closed, ms; 0 leaves that to the device. */
  readonly idleMs: number;
}

/** The device has opened the channel by then, and its user has hardly begun to speak. */
const FAREWELL_MS = 300;

const apology = alertMessage({
  status: 'No voice service',
  message: 'This hub has no voice service.',
  emotion: 'neutral',
});

const nothing = () => undefined;

export class NoVoice implements ConversationHost {
  constructor(private readonly options: NoVoiceOptions) {}

  open({ device, hello }: ConversationRequest, answer: (hello: HelloAnswer) => void): Conversation {
    return hello.transport === 'udp' ? this.#overMqtt(device, answer) : this.#overWebSocket(device, answer);
  }

  #overMqtt(device: ConversingDevice, answer: (hello: HelloAnswer) => void): Conversation {
    const { clock, hosts, udpPort } = this.options;
    const sessionId = randomUUID();
    const channel = {
      server: udpHostFor(device.localAddress, hosts),
      port: udpPort(),
      key: randomBytes(16).toString('hex'),
      nonce: nonceOf(randomBytes(4).readUInt32BE()),
    };
    answer({ sessionId, message: udpServerHello(sessionId, channel) });
    const cancelFarewell = clock.setTimer(FAREWELL_MS, () => {
      device.say(apology);
      device.say(goodbyeMessage(sessionId));
    });
    return { hasVoice: false, ready: nothing, heard: nothing, heardAudio: nothing, used: nothing, end: cancelFarewell };
  }

  #overWebSocket(device: ConversingDevice, answer: (hello: HelloAnswer) => void): Conversation {
    const { clock, idleMs } = this.options;
    const sessionId = randomUUID();
    answer({ sessionId, message: websocketServerHello(sessionId) });
    const silence = new SilentSocket({
      clock,
      idleMs,
      say: (message) => device.say(message),
      pendingCalls: () => device.pendingCalls(),
      close: () => device.hangUp('no_voice'),
    });
    return {
      hasVoice: false,
      ready: () => silence.begin(),
      heard: nothing,
      heardAudio: nothing,
      used: () => silence.used(),
      end: () => silence.end(),
    };
  }
}
