/** What relayed conversations count for metrics. Every name comes from a closed list of ours. */
import type { GatewayCount } from '../gateway-counters.js';
import type { ConversationEnd } from './relay/relayed-conversation.js';

/** Why a frame that the hub had was not passed on. */
export type FrameDrop =
  | 'malformed'
  /** Said before the device's hello was answered. */
  | 'too_early'
  | 'backend_stalled'
  /** One side had closed, and the hub had not heard of it yet. */
  | 'backend_gone'
  | 'device_gone'
  /** A device over UDP is found only by what it sends, and this one has sent nothing. */
  | 'device_not_found'
  /** More than a datagram takes. */
  | 'too_long'
  | 'interrupted'
  | 'conversation_ended';

type Count =
  | 'started'
  | `ended_${ConversationEnd}`
  | 'frames_from_device'
  | 'frames_to_device'
  | 'frames_lost'
  | `frames_dropped_${FrameDrop}`
  | 'texts_refused'
  | 'texts_dropped'
  | 'unavailable';

export class VoiceCounters {
  readonly #counts = new Map<Count, number>();

  add(count: Count, amount = 1): void {
    this.#counts.set(count, (this.#counts.get(count) ?? 0) + amount);
  }

  dropped(reason: FrameDrop, frames: number): void {
    if (frames > 0) this.add(`frames_dropped_${reason}`, frames);
  }

  list(): readonly GatewayCount[] {
    return [...this.#counts].map(([name, count]) => ({ name: `voice_${name}`, count }));
  }
}
