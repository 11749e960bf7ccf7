/**
 * How devices get in: what the hub knows of a device's identity, the credentials it issued, and
 * those that wait to be let in.
 */
import type { DeviceId } from '@flotilla/mcp';
import type { Dialect, TransportKind } from '../device-filter.js';
import type { DeviceRow } from '../devices/device-rows.js';

/** What an OTA request says of the device that sent it. None of it is proven. */
export interface OtaContact {
  readonly deviceId: DeviceId;
  /**
   * The device's own UUID (Client-Id). A secret: stored as a hash only, never in events, logs or
   * the API.
   */
  readonly clientUuid: string;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly remoteAddress: string | undefined;
  /**
   * What counts as one place of origin: an IPv4 address, or 64 bits of an IPv6 address. Without it
   * the address counts.
   */
  readonly remoteNetwork?: string | undefined;
  /** What decides which images it can take. */
  readonly board?: BoardFacts;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Members that the device did not tell are undefined, and what it told before stays. */
export interface BoardFacts {
  /** `esp32s3`. */
  readonly chip: string | undefined;
  /**
   * Partitions that an image can be written to while another runs; 0: it cannot be upgraded over
   * the air.
   */
  readonly otaPartitions: number | undefined;
  /** Lower-case hex SHA-256 of the running image's ELF file. */
  readonly elfSha256: string | undefined;
}

/**
 * A device that may come in, as an OTA answer needs it. Small: a gateway keeps all of them in
 * memory, to answer while PostgreSQL is away.
 */
export interface KnownDevice {
  readonly deviceId: DeviceId;
  readonly dialect: Dialect;
  /**
   * Lower-case hex SHA-256 of the Client-Id that it is bound to; undefined for a registered device
   * that no Client-Id proved.
   */
  readonly clientUuidHash: string | undefined;
  /** How it is told to connect. */
  readonly transport: 'MQTT' | 'WEBSOCKET';
  /** IANA zone of its clock, its own or of a group; undefined: the hub's default. */
  readonly timeZone: string | undefined;
  readonly credential: IssuedCredential;
}

/**
 * The newest credential of a device. `secret` is there until the device has used it, and then never
 * again.
 */
export interface IssuedCredential {
  /** MQTT client id with a random part: not the device's UUID. */
  readonly mqttClientId: string;
  readonly mqttUsername: string;
  /** MQTT password and WebSocket token in one: 32 random bytes as base64url. */
  readonly secret: string | undefined;
}

/** Whether an OTA request comes from the device that it names. */
export type Recognition =
  | { readonly kind: 'proven'; readonly known: KnownDevice }
  | {
      readonly kind: 'unproven';
      /**
       * The device is known, so this is another board, an erased one, or one that was registered
       * without its Client-Id.
       */
      readonly isKnown: boolean;
      /** Another Client-Id, or the board that uses its credential, has the device. */
      readonly replaces: boolean;
      /**
       * Trust on first use (`admitWithoutCodeUntil`): `due` admits this request, `past` had another
       * Client-Id before.
       */
      readonly firstUse: 'none' | 'due' | 'past';
    };

/** Why a proof was refused, for counters and events. */
export type CredentialVerdict =
  /** `hasBound`: the connection bound its Client-Id to the device. */
  | { readonly kind: 'granted'; readonly deviceId: DeviceId; readonly hasBound?: true }
  /** `deviceId` where the ids name a known device: an event offers to issue anew. */
  | { readonly kind: 'refused'; readonly deviceId: DeviceId | undefined };

/** What an OTA request has changed in a device's row. */
export interface NotedContact {
  readonly deviceId: DeviceId;
  /** Before the request. */
  readonly formerVersion: string | undefined;
  readonly firmwareVersion: string | undefined;
}

export interface EnrolmentRow {
  readonly id: string;
  /** Six digits, shown by the device. Only an ADMIN ever sees it in the API. */
  readonly code: string;
  /** A known device that came with another Client-Id. */
  readonly replaces: boolean;
  readonly deviceId: DeviceId;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly requestedAt: number;
}

/** What a device that waits is told: the code to show and the challenge to ask about. */
export interface PendingEnrolment {
  readonly code: string;
  readonly challenge: string;
}

export interface MqttLogin {
  readonly clientId: string;
  readonly username: string;
  readonly password: Uint8Array;
}

export interface WebSocketLogin {
  readonly deviceId: string;
  readonly clientUuid: string;
  readonly token: string;
  readonly remoteAddress?: string | undefined;
}

export interface TokenLogin {
  readonly deviceId: string;
  readonly token: string;
}

export type ApprovalRefusal = 'NOT_FOUND' | 'ATTEMPTS_EXCEEDED' | 'DEVICE_ONLINE';

export type Approval =
  /**
   * `hasReplaced`: the device was known with another Client-Id, whose credentials are void now; a
   * session of theirs is to be ended.
   */
  | { readonly kind: 'approved'; readonly device: DeviceRow; readonly hasReplaced: boolean }
  | { readonly kind: ApprovalRefusal };

export interface EnrolmentLinkRow {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly maxDevices: number;
  readonly usedCount: number;
  readonly expiresAt: number;
  readonly revokedAt: number | undefined;
}

/** A new link, and its token, which is returned only here. */
export interface CreatedLink {
  readonly link: EnrolmentLinkRow;
  readonly token: string;
}

export type NewEnrolmentLink = Pick<EnrolmentLinkRow, 'name' | 'tags' | 'maxDevices' | 'expiresAt'>;

/** The approval of the device that shows this code. */
export interface ApprovalRequest {
  readonly code: string;
  /** Wrong codes count against the approver: 10 in 10 minutes. */
  readonly approver: string;
  /** Needed to replace a device that is online. */
  readonly confirm: boolean;
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly at: number;
}

/**
 * `conflicts` names devices that exist already. `beyond` is a device outside the access scope of the
 * caller, or one that waits for an approval.
 */
export type Registration =
  | {
      readonly kind: 'registered';
      readonly devices: readonly { readonly device: DeviceRow; readonly known: KnownDevice | undefined }[];
    }
  | { readonly kind: 'conflict'; readonly conflicts: readonly string[] }
  | { readonly kind: 'beyond'; readonly deviceId: string };

/** A secret of one chip: 32 bytes in its eFuse, found by its serial number. */
export interface FactoryKey {
  readonly serial: string;
  readonly key: Uint8Array;
}

export interface NewDevice {
  readonly deviceId: DeviceId;
  readonly name: string | undefined;
  readonly tags: readonly string[];
  readonly dialect: Dialect;
  /** How it is told to connect; TCP is for devices that the hub dials. */
  readonly transport: TransportKind;
  /** `host:port` where `transport` is TCP. */
  readonly address?: string | undefined;
  /** The Client-Id that it will come with. A secret: stored as a hash only. */
  readonly clientUuid?: string | undefined;
  /** Trust on first use until then, ms since the Unix epoch. */
  readonly admitWithoutCodeUntil?: number | undefined;
  /**
   * An administrator gave the address: then it may be in a private network that no setting lists.
   */
  readonly dialByAdmin?: boolean | undefined;
}
