/**
 * How devices get in: what the hub knows of a device's identity, the credentials it issued, and
 * those that wait to be let in.
 */
import type { DeviceId } from '@flotilla/mcp';
import type { AuditSource } from './audit/audit-entry.js';
import type { DeviceFilter, Dialect, TransportKind } from './device-filter.js';
import type { DeviceRow } from './devices/device-types.js';
import type { Page, PageRequest } from './page.js';

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

export interface CredentialStore {
  /**
   * Checks an MQTT login: client id, user name and password as issued, the newest or one still in
   * its grace time. Marks a newest one as used.
   */
  checkMqtt(login: {
    readonly clientId: string;
    readonly username: string;
    readonly password: Uint8Array;
  }): Promise<CredentialVerdict>;
  /**
   * Checks a WebSocket token against the device and Client-Id that it was issued to. Of a
   * registered device the token binds the first Client-Id, and no later one.
   */
  checkWebSocket(login: {
    readonly deviceId: string;
    readonly clientUuid: string;
    readonly token: string;
    readonly remoteAddress?: string | undefined;
  }): Promise<CredentialVerdict>;
  /**
   * Checks the token of a microcontroller, which has no Client-Id: of a device of another family it
   * is refused.
   */
  checkToken(login: { readonly deviceId: string; readonly token: string }): Promise<CredentialVerdict>;
  /**
   * Issues a new credential. The old one stays valid until the new one is used or `graceMs` (24 h)
   * ended. Undefined where there is no such device, or the hub dials it.
   */
  rotate(deviceId: string, at: number, by?: AuditSource): Promise<IssuedCredential | undefined>;
  /**
   * How a xiaozhi device is told to connect from its next OTA request on, and which settings a
   * microcontroller's next credential has. False where there is no such device, or the hub dials
   * it.
   */
  setTransport(deviceId: string, transport: KnownDevice['transport'], by?: AuditSource): Promise<boolean>;
  /**
   * Whether it is a board that the hub dials: that one proves nothing, and a credential would be a
   * second way in.
   */
  isDialled(deviceId: string): Promise<boolean>;
  /** All known devices, once at the start of a gateway. */
  allKnown(): Promise<readonly KnownDevice[]>;
  findKnown(deviceId: string): Promise<KnownDevice | undefined>;
  /**
   * Whether the Client-Id is the one that the device is bound to. A proven one is answered from
   * memory; any other costs a share of one statement, whether or not the device is known, so that
   * the time discloses nothing.
   */
  recognise(contact: OtaContact): Promise<Recognition>;
  /**
   * Stores what a proven device's OTA request said: version, model, last seen, and that it booted.
   * A request with another Client-Id changes nothing.
   */
  contacted(contact: OtaContact): Promise<void>;
  /**
   * `listener` receives what this process has noted, once it is committed. One listener; a further
   * one replaces it.
   */
  whenNoted(listener: (contacts: readonly NotedContact[]) => void): void;
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

/** Acts of people are given `by`, and are recorded in the audit trail in their own transaction. */
export interface EnrolmentStore {
  /**
   * The pending enrolment of this device and Client-Id, made if there is none. At most 1,000 wait:
   * beyond that the oldest of the network with most of them goes. Codes live 15 minutes after the
   * last request.
   */
  request(contact: OtaContact): Promise<PendingEnrolment>;
  /**
   * Enrols at once: mode `open`, or a factory key that proved itself, whose `serial` then belongs
   * to this device for good. Undefined for what only a person can let in: a removed device, a known
   * one with another Client-Id (unless its serial proves it to be the same), a serial of another
   * device.
   */
  admit(contact: OtaContact, proof?: { readonly serial: string }): Promise<KnownDevice | undefined>;
  /**
   * Admits the first Client-Id of a device that was registered with `admitWithoutCodeUntil`.
   * Undefined where it is not due.
   */
  admitFirstUse(contact: OtaContact): Promise<KnownDevice | undefined>;
  /**
   * Enrols at once by a link's token: within its number and date. Undefined where the link does not
   * allow it, for a removed device, and for a known one with another Client-Id. A known device is
   * answered, not counted again.
   */
  admitByLink(token: string, contact: OtaContact): Promise<KnownDevice | undefined>;
  page(page: PageRequest): Promise<Page<EnrolmentRow>>;
  /**
   * Lets in the device that shows this code. Wrong codes count against `approver` (10 in 10
   * minutes). A `replaces` one whose device is online needs `confirm`.
   */
  approve(
    approval: {
      readonly code: string;
      readonly approver: string;
      readonly confirm: boolean;
      readonly name?: string | undefined;
      readonly tags?: readonly string[] | undefined;
      readonly at: number;
    },
    by?: AuditSource,
  ): Promise<Approval>;
  /** Forgets the pending enrolment; resolves to its device. Undefined where there is none. */
  reject(id: string, by?: AuditSource): Promise<DeviceId | undefined>;
  createLink(
    link: {
      readonly name: string;
      readonly tags: readonly string[];
      readonly maxDevices: number;
      readonly expiresAt: number;
    },
    by?: AuditSource,
  ): Promise<{
    readonly link: EnrolmentLinkRow;
    /** Once. */
    readonly token: string;
  }>;
  revokeLink(id: string, at: number, by?: AuditSource): Promise<EnrolmentLinkRow | undefined>;
  links(): Promise<readonly EnrolmentLinkRow[]>;
  /**
   * Registers devices before they come; all or none. `conflicts` names those that exist already;
   * `beyond` is one that would not be among those of `within`, or waits for a person.
   */
  register(
    devices: readonly NewDevice[],
    by?: AuditSource,
    within?: DeviceFilter,
  ): Promise<
    | {
        readonly kind: 'registered';
        readonly devices: readonly { readonly device: DeviceRow; readonly known: KnownDevice | undefined }[];
      }
    | { readonly kind: 'conflict'; readonly conflicts: readonly string[] }
    | { readonly kind: 'beyond'; readonly deviceId: string }
  >;
  /**
   * Removes the device, its credentials and enrolments; its history stays. Undefined where there is
   * none. Under `hmac` its id goes on the deny list.
   */
  remove(deviceId: string, by?: AuditSource): Promise<DeviceId | undefined>;
  /** Device ids that may not come in although their fleet-wide HMAC is right. */
  isDenied(deviceId: string): Promise<boolean>;
  /**
   * Adds the keys that a factory burnt into chips; one that is there already gets the new key.
   * Resolves to how many were written.
   */
  importFactoryKeys(keys: readonly FactoryKey[]): Promise<number>;
  /** The key to check a chip's HMAC with. */
  factoryKeyOf(serial: string): Promise<Uint8Array | undefined>;
}

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
