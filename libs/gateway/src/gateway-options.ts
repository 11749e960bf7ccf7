/** What a gateway is made of, and what it reports about itself. */
import type { Bus } from '@flotilla/bus';
import type { HubProcessId } from '@flotilla/mcp';
import type { DialStore } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { DeviceAuth } from './auth/device-auth.js';
import type { UdpHosts } from './conversations/udp-host.js';
import type { GatewayCount } from './gateway-counters.js';
import type { GatewayLimits } from './gateway-limits.js';
import type { GatewayLogger } from './gateway-logger.js';
import type { DialRules } from './mcpu/dial-rules.js';
import type { MeasurementRecorder } from './measurements/measurement-recorder.js';
import type { BootSigns } from './restarts/boot-signs.js';
import type { SessionCount } from './sessions/count-sessions.js';
import type { ClientAddress } from './sessions/session-host.js';
import type { SessionStores } from './sessions/record-context.js';
import type { VisionFor } from './sessions/vision-customer.js';
import type { BackendHealth } from './voice/backend/backend-health.js';
import type { VoiceRelayOptions } from './voice/relay/voice-relay-options.js';
import type { VoiceLimits } from './voice/voice-limits.js';

export interface GatewayOptions {
  /** This process, as its lease names it. */
  readonly gatewayId: HubProcessId;
  readonly registry: SessionStores & { readonly dials: DialStore };
  readonly bus: Pick<Bus, 'directory' | 'feed'>;
  readonly clock: Clock;
  readonly auth: DeviceAuth;
  /** Finds the client of an upgrade request; by default the peer of the socket. */
  readonly addressOf?: ClientAddress;
  /** The topic that MQTT devices publish on; `device-server` by default. */
  readonly publishTopic?: string;
  /** Where microcontrollers may be dialled; by default in private networks and on this machine. */
  readonly dialRules?: DialRules;
  /**
   * `port` 0 selects a free one. `bufferBytes` is the size of the receive buffer that the system is
   * asked for.
   */
  readonly udp: UdpHosts & {
    readonly host: string;
    readonly port: number;
    readonly bufferBytes?: number;
  };
  /** Makes the address that a camera sends photos to; by default there is no vision. */
  readonly visionFor?: VisionFor | undefined;
  /** The voice servers; by default there is no voice. */
  readonly voice?: VoiceOptions | undefined;
  /** Records numbers that devices report; by default none. */
  readonly measurements?: MeasurementRecorder | undefined;
  /** Notes restarts that sessions show; by default none. */
  readonly boots?: BootSigns | undefined;
  readonly limits?: Partial<GatewayLimits>;
  readonly logger: GatewayLogger;
}

export type VoiceOptions = Pick<VoiceRelayOptions, 'serversOf' | 'calls' | 'known' | 'checksAddress'> & {
  /** Stores the health of the voice servers for the API. */
  readonly report: (servers: readonly BackendHealth[]) => Promise<void>;
  readonly limits?: Partial<VoiceLimits>;
};

export interface GatewayStatus {
  readonly sessions: readonly SessionCount[];
  /** Connections that have not authenticated. */
  readonly unproven: number;
  /** Sessions that wait to greet their device. */
  readonly undiscovered: number;
  /** Devices that reconnect constantly and have to wait. */
  readonly flapping: number;
  /** Conversations with voice servers. */
  readonly conversations: number;
  /** Channels for audio over UDP. */
  readonly udpChannels: number;
  readonly backends: readonly BackendHealth[];
  readonly counts: readonly GatewayCount[];
}

export interface GatewayOccupancy {
  readonly sessions: number;
  readonly max: number;
  readonly isFull: boolean;
  /** It admits no more devices, because the process stops. */
  readonly isDraining: boolean;
}
