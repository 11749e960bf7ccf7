/** What the API is given by apps/hub, and the tokens under which Nest hands it to the resolvers. */
import type { IncomingMessage } from 'node:http';
import type { EventFeed } from '@flotilla/bus';
import type { FetchDocument } from '@flotilla/fleet';
import type { FleetView, JobStores, KnownDevice, Registry } from '@flotilla/registry';
import type {
  AlertOperations,
  FirmwareOperations,
  FleetOperations,
  GrantOperations,
  PeopleOperations,
  PictureFiles,
  MovingOperations,
  ProvisioningOperations,
  ScreenOperations,
  SignInOperations,
  SigningKeyOperations,
  WebhookOperations,
} from './fleet-operations.js';
import type { ApiLogger } from './api-logger.js';
import type { KeyFailures } from './access/key-failures.js';
import type { QueryRules } from './limits/admission.js';
import type { ApiLimits } from './limits/api-limits.js';
import type { OidcSettings } from './sign-in/oidc-sign-in.js';

/**
 * The origin of a request: the peer of the connection, or the client that a trusted proxy names.
 */
interface Client {
  readonly address: string | undefined;
  /** A proxy was asked by HTTPS. */
  readonly isSecure: boolean;
}

export type ClientOf = (request: IncomingMessage) => Client;

/** Without proxies. */
export const directClient: ClientOf = ({ socket }) => ({ address: socket.remoteAddress, isSecure: false });

/**
 * How devices connect to this hub. Undefined answers mean that the hub does not know its own
 * address.
 */
export interface DeviceSettings {
  /** The OTA answer's `mqtt` or `websocket` object. */
  describeCredential(known: KnownDevice): Readonly<Record<string, unknown>> | undefined;
  /** The OTA address of an enrolment link. */
  otaUrl(token: string): string | undefined;
}

export interface ApiDeps {
  readonly registry: Registry;
  readonly fleet: FleetOperations;
  readonly provisioning: ProvisioningOperations;
  readonly moving: MovingOperations;
  readonly firmware: FirmwareOperations;
  readonly signingKeys: SigningKeyOperations;
  readonly screens: ScreenOperations;
  readonly pictures: PictureFiles;
  readonly webhooks: WebhookOperations;
  readonly alerts: AlertOperations;
  readonly people: PeopleOperations;
  readonly signIns: SignInOperations;
  readonly grants: GrantOperations;
  /** Fetches what clients of OAuth publish about themselves. */
  readonly fetchDocument: FetchDocument;
  /** Agents connect with API keys alone, also where the hub has a public address. */
  readonly isOauthOff?: boolean;
  /** The identity provider by which people may sign in besides. */
  readonly oidc?: OidcSettings | undefined;
  /** Without it payloads show no credentials and no links: devices still get theirs. */
  readonly deviceSettings?: DeviceSettings;
  /** The IANA time zone of devices that have none. */
  readonly timeZone: string;
  readonly feed: EventFeed;
  /** The origin under which browsers reach this hub; its pages may talk to `/mcp`. */
  readonly publicUrl?: string | undefined;
  /** Where the build left the web console. */
  readonly consoleFolder?: string | undefined;
  /** The hub's own listener speaks HTTPS. */
  readonly isHttps?: boolean;
  /** The default is a hub without a proxy. */
  readonly clientOf?: ClientOf | undefined;
  /** Shared with what else of the process checks keys. */
  readonly failures?: KeyFailures;
  readonly logger: ApiLogger;
  readonly queries?: QueryRules;
  /** Those not given are the defaults. */
  readonly limits?: Partial<ApiLimits>;
}

/**
 * The stores that belong to no device. Resolvers reach the others only through `ApiContext.view`.
 */
export type FleetWideStores = Omit<Registry, keyof FleetView | keyof JobStores | 'viewFor'> & {
  readonly fleetFigures: Pick<Registry['fleetFigures'], 'processes'>;
};

const ofDevices: Readonly<Record<keyof FleetView | keyof JobStores | 'viewFor', true>> = {
  devices: true,
  deviceGroups: true,
  toolSets: true,
  events: true,
  calls: true,
  jobs: true,
  rollouts: true,
  uploads: true,
  measurements: true,
  restarts: true,
  jobCommands: true,
  targetPreparation: true,
  targetQueue: true,
  targetVerification: true,
  fleetFigures: true,
  viewFor: true,
  desiredStates: true,
};

export function fleetWide(registry: Registry): FleetWideStores {
  const stores = Object.fromEntries(Object.entries(registry).filter(([name]) => !Object.hasOwn(ofDevices, name)));
  const fleetFigures = { processes: () => registry.fleetFigures.processes() };
  return { ...(stores as unknown as Omit<FleetWideStores, 'fleetFigures'>), fleetFigures };
}

export const REGISTRY = Symbol('registry');
export const FLEET = Symbol('fleet');
export const PROVISIONING = Symbol('provisioning');
export const MOVING = Symbol('moving');
export const FIRMWARE = Symbol('firmware');
export const SIGNING_KEYS = Symbol('signing keys');
export const SCREENS = Symbol('screens');
export const WEBHOOKS = Symbol('webhooks');
export const ALERTS = Symbol('alerts');
export const PEOPLE = Symbol('people');
export const GRANTS = Symbol('grants');
export const DEVICE_SETTINGS = Symbol('device settings');
export const TIME_ZONE = Symbol('time zone');
export const FEED = Symbol('feed');
export const LIMITS = Symbol('limits');
export const LOGGER = Symbol('logger');
