/** Counters of relayed conversations for metrics. All names come from a fixed list. */
import type { GatewayCount } from '../gateway-counters.js';
import type { ConversationEnd } from './relay/conversation-end.js';

/** Why a received frame was not relayed. */
export type FrameDrop =
  | 'malformed'
  /** Received before the device's hello was answered. */
  | 'too_early'
  | 'backend_stalled'
  /** One side had closed before the hub noticed. */
  | 'backend_gone'
  | 'device_gone'
  /** The hub knows the address of a UDP device only after its first packet. */
  | 'device_not_found'
  /** Larger than a datagram. */
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
