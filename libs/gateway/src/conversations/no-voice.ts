/**
 * Conversations of a hub without a voice service. A device cannot be told "no" at once: it accepts nothing but a complete answer with a UDP address, so
 * it gets one, and a moment later hears that there is no voice service, and goodbye. [xiaozhi §2.4, §2.6]
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { alertMessage, goodbyeMessage, udpServerHello } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { Conversation, ConversationHost, ConversationRequest } from './conversation-host.js';

export interface NoVoiceOptions {
  readonly clock: Clock;
  readonly udpPort: () => number;
  /** Told to devices instead of the address that they reached. */
  readonly publicHost: string | undefined;
}

/** Long enough for the device to have opened the channel, short enough that nobody speaks into it. */
const FAREWELL_MS = 300;

export class NoVoice implements ConversationHost {
  constructor(private readonly options: NoVoiceOptions) {}

  open(request: ConversationRequest): Conversation {
    const { clock, publicHost, udpPort } = this.options;
    const sessionId = randomUUID();
    const server = publicHost ?? request.localAddress ?? '127.0.0.1';
    const cancelFarewell = clock.setTimer(FAREWELL_MS, () => {
      request.say(alertMessage({ status: 'No voice service', message: 'This hub has no voice service.', emotion: 'neutral' }));
      request.say(goodbyeMessage(sessionId));
    });
    return {
      sessionId,
      answer: udpServerHello(sessionId, { server, port: udpPort(), key: randomBytes(16).toString('hex'), nonce: freshNonce() }),
      end: cancelFarewell,
    };
  }
}

/** Byte 0 is the packet type 01, bytes 4 to 7 are the random sender number; the rest is filled in by the device. [xiaozhi §2.5] */
function freshNonce(): string {
  return `01000000${randomBytes(4).toString('hex')}0000000000000000`;
}
