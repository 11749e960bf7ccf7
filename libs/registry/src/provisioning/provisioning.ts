/** How devices enrol: their identity, their credentials, and devices that wait for an approval. */
import type { DeviceId, DialectName, IncomingTransport, TransportKind } from '@flotilla/mcp';
import type { DeviceRow } from '../devices/device-rows.js';

/** The claims of an OTA request. None of them is proven. */
export interface OtaContact {
  readonly deviceId: DeviceId;
  /**
   * The UUID of the device (Client-Id). A secret: stored as a hash, and never in events, logs or
   * the API.
   */
  readonly clientUuid: string;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly remoteAddress: string | undefined;
  /**
   * The network of the device: an IPv4 address, or 64 bits of an IPv6 address. Default: the
   * address.
   */
  readonly remoteNetwork?: string | undefined;
  /** The facts that decide which images fit. */
  readonly board?: BoardFacts;
  /** Why it restarted, where its firmware reports it. */
  readonly resetReason?: string | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Undefined members were not reported, and stay as they were. */
export interface BoardFacts {
  /** `esp32s3`. */
  readonly chip: string | undefined;
  /** Partitions for another image than the running one; 0: no upgrade over the air. */
  readonly otaPartitions: number | undefined;
  /** Lower-case hex SHA-256 of the running image's ELF file. */
  readonly elfSha256: string | undefined;
  /** What decides which images fit; undefined without a partition table. */
  readonly flash?: FlashFacts | undefined;
}

/** Stored as JSON. Undefined members were not reported. */
export interface FlashFacts {
  /** Of the partition that the next image is written to. */
  readonly slotBytes: number | undefined;
  readonly flashBytes: number | undefined;
  /** In hundreds: 102 is v1.2. */
  readonly chipRevision: number | undefined;
  /** Whether there is a partition for assets, as in the layout of xiaozhi 2. */
  readonly hasAssets: boolean;
}

/** A known device, as an OTA answer needs it. Small, because a gateway caches all of them. */
export interface KnownDevice {
  readonly deviceId: DeviceId;
  readonly dialect: DialectName;
  /** Lower-case hex SHA-256 of the bound Client-Id; undefined before a Client-Id was proven. */
  readonly clientUuidHash: string | undefined;
  /** The transport in its OTA answers. */
  readonly transport: IncomingTransport;
  /** IANA zone of its clock, of the device or a group; undefined: the default of the hub. */
  readonly timeZone: string | undefined;
  readonly credential: IssuedCredential;
}

/** The newest credential of a device. `secret` is there until its first use. */
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
       * The device is known: this is another board, an erased one, or one registered without a
       * Client-Id.
       */
      readonly isKnown: boolean;
      /** Another Client-Id, or a board that uses its credential, holds the device. */
      readonly replaces: boolean;
      /** Trust on first use: `due` admits this request, `past` had another Client-Id before. */
      readonly firstUse: 'none' | 'due' | 'past';
    };

/** The result of a check, for counters and events. */
export type CredentialVerdict =
  /** `hasBound`: this connection bound its Client-Id to the device. */
  | { readonly kind: 'granted'; readonly deviceId: DeviceId; readonly hasBound?: true }
  /** `deviceId` of a known device: its event offers a new credential. */
  | { readonly kind: 'refused'; readonly deviceId: DeviceId | undefined };

/** The change of a device by an OTA request. */
export interface NotedContact {
  readonly deviceId: DeviceId;
  /** Before the request. */
  readonly formerVersion: string | undefined;
  readonly firmwareVersion: string | undefined;
}

export interface EnrolmentRow {
  readonly id: string;
  /** Six digits that the device shows. Only an ADMIN sees it in the API. */
  readonly code: string;
  /** A known device with another Client-Id. */
  readonly replaces: boolean;
  readonly deviceId: DeviceId;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly requestedAt: number;
}

/** The code that a waiting device shows, and the challenge that it asks about. */
export interface PendingEnrolment {
  readonly code: string;
  readonly challenge: string;
  /** The board waits like others, but is neither listed nor reported. */
  readonly isBlocked: boolean;
}

/** A board that is not admitted, although it may ask. */
export interface BlockedBoardRow {
  readonly deviceId: DeviceId;
  readonly model: string | undefined;
  /** The name of the person or key. */
  readonly blockedBy: string;
  readonly blockedAt: number;
  /** Undefined: until it is unblocked. */
  readonly blockedUntil: number | undefined;
}

/** `blockedUntil` undefined: until it is unblocked. */
export type NewBlock = Pick<BlockedBoardRow, 'deviceId' | 'blockedBy' | 'blockedAt' | 'blockedUntil'>;

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

export type ApprovalRefusal = 'NOT_FOUND' | 'ATTEMPTS_EXCEEDED' | 'DEVICE_ONLINE' | 'BLOCKED';

export type Approval =
  /** `hasReplaced`: credentials of another Client-Id are void, and its session must end. */
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

/** Its sessions up to `epoch` began before it was removed. */
export interface RemovedDevice {
  readonly id: DeviceId;
  readonly epoch: number;
}

/**
 * `conflicts` names devices that exist already. `beyond` is a device outside the access scope of
 * the caller, or one that waits for an approval.
 */
export type Registration =
  | {
      readonly kind: 'registered';
      readonly devices: readonly { readonly device: DeviceRow; readonly known: KnownDevice | undefined }[];
    }
  | { readonly kind: 'conflict'; readonly conflicts: readonly string[] }
  | { readonly kind: 'beyond'; readonly deviceId: string };

/** The secret of one chip: 32 bytes in its eFuse, found by its serial number. */
export interface FactoryKey {
  readonly serial: string;
  readonly key: Uint8Array;
}

export interface NewDevice {
  readonly deviceId: DeviceId;
  readonly name: string | undefined;
  readonly tags: readonly string[];
  readonly dialect: DialectName;
  /** The transport in its OTA answers; TCP for devices that the hub dials. */
  readonly transport: TransportKind;
  /** `host:port` where `transport` is TCP. */
  readonly address?: string | undefined;
  /** The expected Client-Id. A secret: stored as a hash only. */
  readonly clientUuid?: string | undefined;
  /** The end of trust on first use, ms since the Unix epoch. */
  readonly admitWithoutCodeUntil?: number | undefined;
  /** An administrator gave the address, so it may be in a private network that no setting lists. */
  readonly dialByAdmin?: boolean | undefined;
}
