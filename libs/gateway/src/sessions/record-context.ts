import type { Bus } from '@flotilla/bus';
import type { HubProcessId } from '@flotilla/mcp';
import type { CallStore, CredentialStore, DeviceStore, EventStore, ToolSetStore } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { EventLog } from './event-log.js';

/** The part of the registry that sessions need. */
export interface SessionStores {
  readonly devices: Pick<DeviceStore, 'connect' | 'ready' | 'closeSession' | 'report'>;
  readonly toolSets: Pick<ToolSetStore, 'ensure' | 'get'>;
  readonly events: Pick<EventStore, 'append'>;
  readonly calls: Pick<CallStore, 'record' | 'isOverloaded'>;
  readonly credentials: Pick<CredentialStore, 'forget'>;
}

/** What the records of all sessions of a gateway share. */
export interface RecordContext {
  readonly gatewayId: HubProcessId;
  readonly registry: SessionStores;
  readonly bus: Pick<Bus, 'directory' | 'feed'>;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly logger: GatewayLogger;
}
