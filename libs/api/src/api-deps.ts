/** What the API is given by apps/hub, and the tokens under which Nest hands it to the resolvers. */
import type { EventFeed } from '@flotilla/bus';
import type { Registry } from '@flotilla/registry';
import type { FleetOperations } from './fleet-operations.js';
import type { ApiLimits } from './limits/api-limits.js';

/** The part of pino's logger that the API uses. */
export interface ApiLogger {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

export interface ApiDeps {
  readonly registry: Registry;
  readonly fleet: FleetOperations;
  readonly feed: EventFeed;
  readonly logger: ApiLogger;
  /** Those not given are the defaults. */
  readonly limits?: Partial<ApiLimits>;
}

export const REGISTRY = Symbol('registry');
export const FLEET = Symbol('fleet');
export const FEED = Symbol('feed');
export const LIMITS = Symbol('limits');
export const LOGGER = Symbol('logger');
