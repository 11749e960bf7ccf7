import type { DeviceId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { ConversationHost } from '../../conversations/conversation-host.js';
import type { UdpHosts } from '../../conversations/udp-host.js';
import type { GatewayLogger } from '../../gateway-logger.js';
import type { UdpAudio } from '../audio/udp-audio.js';
import type { BackendWatch } from '../backend/backend-health.js';
import type { VoiceCalls } from '../backend/backend-mcp.js';
import type { VoiceServer } from '../backend/voice-server.js';
import type { VoiceCounters } from '../voice-counters.js';
import type { VoiceLimits } from '../voice-limits.js';

/**
 * Returns the voice servers of a device in order of preference. An empty list means conversations
 * without voice. Rejects if they cannot be looked up.
 */
type VoiceServersOf = (deviceId: DeviceId) => Promise<readonly VoiceServer[]>;

export interface VoiceRelayOptions {
  readonly serversOf: VoiceServersOf;
  readonly calls: VoiceCalls;
  /** Accept datagrams only from the address of the device's connection. */
  readonly checksAddress: boolean;
  readonly udp: () => UdpAudio;
  readonly hosts: UdpHosts;
  /** Voice servers that are listed before the first attempt. */
  readonly known: readonly string[];
  readonly watch: BackendWatch;
  /** Handles devices without a voice server that answers. */
  readonly voiceless: ConversationHost;
  readonly clock: Clock;
  readonly limits: VoiceLimits;
  readonly counters: VoiceCounters;
  readonly logger: GatewayLogger;
}
