/**
 * Relays conversations to voice servers: selects one that answers, connects to it as the device,
 * and joins both sides. If none answers, the device gets a conversation without voice. [xiaozhi
 * §1.3, §2.4]
 */
import type {
  Conversation,
  ConversationHost,
  ConversationRequest,
  HelloAnswer,
} from '../../conversations/conversation-host.js';
import { BackendHealthTable } from '../backend/backend-health.js';
import type { BackendHealth } from '../backend/backend-health.js';
import { ConversationSetup } from './conversation-setup.js';
import type { VoiceRelayOptions } from './voice-relay-options.js';

export class VoiceRelay implements ConversationHost {
  readonly #health: BackendHealthTable;
  readonly #open = new Set<ConversationSetup>();

  constructor(private readonly options: VoiceRelayOptions) {
    const { clock, known, limits, watch } = options;
    this.#health = new BackendHealthTable({ clock, restMs: limits.backendRestMs, known, watch });
  }

  /** Conversations that are being opened or are open. */
  get size(): number {
    return this.#open.size;
  }

  health(): readonly BackendHealth[] {
    return this.#health.list();
  }

  open(request: ConversationRequest, answer: (hello: HelloAnswer) => void): Conversation {
    const setup = new ConversationSetup(this.options, this.#health, request, {
      answer,
      forget: () => void this.#open.delete(setup),
    });
    if (this.#open.size >= this.options.limits.conversationsMax)
      setup.continueWithoutVoice('the hub has as many conversations as it takes');
    else {
      this.#open.add(setup);
      void setup.start();
    }
    return setup;
  }

  /** Ends all conversations. The sessions of their devices end next. */
  stop(): void {
    for (const setup of this.#open) setup.end('hub_stopping');
  }
}
