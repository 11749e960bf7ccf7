/**
 * Checks and issues the credentials of devices. A refusal does not say what would have been right.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceId } from '@flotilla/mcp';
import { audited } from '../../audit/append-audit.js';
import type { AuditSource } from '../../audit/audit-entry.js';
import type { BatchWriter } from '../../database/batch-writer.js';
import type { Database } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import type {
  CredentialVerdict,
  IssuedCredential,
  KnownDevice,
  MqttLogin,
  NotedContact,
  OtaContact,
  Recognition,
  TokenLogin,
  WebSocketLogin,
} from '../provisioning.js';
import { messageOf } from '../../registry-error.js';
import type { RegistryLogger } from '../../registry-logger.js';
import type { WriterStatus } from '../../registry.js';
import { bindByToken } from './client-bindings.js';
import { openContactWriter } from './contact-writer.js';
import { rotateCredential, setTransports } from './rotate-credentials.js';
import { hashOf, isEqualHash } from '../../secrets/secrets.js';
import type { CredentialCache } from './credential-cache.js';
import { afterUse, isUnclaimed, toKnownDevice, usernameOf } from './device-credentials.js';
import type { Credential, DeviceCredentials } from './device-credentials.js';
import { openUseWriter } from './used-credentials.js';
import type { CredentialUse } from './used-credentials.js';

/** Without PostgreSQL the change fails by itself, and with its own reason. */
const USES_WAIT_MS = 1_000;

interface CredentialStoreDeps {
  readonly database: Database;
  readonly cache: CredentialCache;
  readonly logger: RegistryLogger;
  readonly now: () => number;
}

export class CredentialStore {
  readonly #uses: BatchWriter<CredentialUse, undefined>;
  readonly #contacts: BatchWriter<OtaContact, undefined>;
  #noted: (contacts: readonly NotedContact[]) => void = () => undefined;

  constructor(private readonly deps: CredentialStoreDeps) {
    this.#uses = openUseWriter(deps.database, deps.logger);
    this.#contacts = openContactWriter(deps.database, deps.logger, (contacts) => this.#noted(contacts));
  }

  /** Checks client id, user name and password. The first use of a new credential is recorded. */
  async checkMqtt({ clientId, username, password }: MqttLogin): Promise<CredentialVerdict> {
    const isName: IsBearer = (device, credential) =>
      credential.mqttClientId === clientId && usernameOf(device.deviceId) === username;
    return (await this.#check(username, hashOf(password), isName)).verdict;
  }

  /**
   * Checks a token with its device and Client-Id. The token of a registered device binds the first
   * Client-Id that presents it.
   */
  async checkWebSocket(login: WebSocketLogin): Promise<CredentialVerdict> {
    const [clientUuidHash, secretHash] = [hashOf(login.clientUuid), hashOf(login.token)];
    const isOwn: IsBearer = ({ clientUuidHash: bound, dialect }) =>
      dialect === 'XIAOZHI' && (bound === undefined || isEqualHash(bound, clientUuidHash));
    const { device, verdict } = await this.#check(login.deviceId, secretHash, isOwn);
    if (verdict.kind === 'refused' || device.clientUuidHash !== undefined) return verdict;
    const { deviceId } = verdict;
    if (await this.#bind({ deviceId, clientUuidHash, secretHash, remoteAddress: login.remoteAddress }))
      return { ...verdict, hasBound: true };
    // Another connection bound the token first, perhaps with the same Client-Id.
    return this.#judge(
      await this.deps.cache.read(deviceId),
      secretHash,
      ({ clientUuidHash: bound }) => bound === clientUuidHash,
    );
  }

  /** Checks the token of a microcontroller, which has no Client-Id. */
  async checkToken({ deviceId, token }: TokenLogin): Promise<CredentialVerdict> {
    return (await this.#check(deviceId, hashOf(token), ({ dialect }) => dialect === 'MCPU')).verdict;
  }

  /**
   * Issues a new credential. The former one stays valid for a day, or until the new one is used.
   * Undefined for an unknown device, and for one that the hub dials.
   */
  async rotate(deviceId: string, at: number, by?: AuditSource): Promise<IssuedCredential | undefined> {
    const { database, cache } = this.deps;
    const id = storableText(deviceId);
    const isDevice = await audited(
      database,
      by,
      (transaction) => rotateCredential(transaction, id, at),
      (isDone) => (isDone ? [{ action: 'credential.rotated', subject: `device:${id}`, data: {}, at }] : []),
    );
    if (!isDevice) return undefined;
    cache.forget([id]);
    return (await this.findKnown(id))?.credential;
  }

  /**
   * Sets how a device connects after its next OTA request or with its next credential.
   * False for an unknown device, and for one that the hub dials.
   */
  async setTransport(deviceId: string, transport: KnownDevice['transport'], by?: AuditSource): Promise<boolean> {
    if ((await this.setTransports([deviceId], transport, by)).length > 0) return true;
    const text = 'SELECT FROM device WHERE id = $1 AND address IS NULL';
    return (await this.deps.database.query({ name: 'connects-itself', text }, [storableText(deviceId)])).length > 0;
  }

  /**
   * Sets the transport of many devices, and resolves to those that changed. A xiaozhi device that
   * has stored its secret gets a new one, as it keeps that for one transport. [xiaozhi §7.3]
   */
  async setTransports(
    deviceIds: readonly string[],
    transport: KnownDevice['transport'],
    by?: AuditSource,
  ): Promise<readonly DeviceId[]> {
    const { database, cache, now } = this.deps;
    const at = now();
    // A secret counts as stored by its device only once the use of it is written.
    await Promise.race([this.#uses.written(), sleep(USES_WAIT_MS, undefined, { ref: false })]);
    const { changed } = await audited(
      database,
      by,
      (transaction) => setTransports(transaction, deviceIds.map(storableText), transport, at),
      (made) => [
        ...made.changed.map((id) => ({
          action: 'device.transport_set',
          subject: `device:${id}`,
          data: { transport },
          at,
        })),
        ...made.rotated.map((id) => ({ action: 'credential.rotated', subject: `device:${id}`, data: {}, at })),
      ],
    );
    cache.forget(changed);
    return changed;
  }

  /** The next check reads PostgreSQL: another process may have changed the credentials. */
  forget(deviceId: string): void {
    this.deps.cache.forget([storableText(deviceId)]);
  }

  /** Whether the hub dials the device. Such a device gets no credential. */
  async isDialled(deviceId: string): Promise<boolean> {
    const text = 'SELECT FROM device WHERE id = $1 AND address IS NOT NULL';
    return (await this.deps.database.query({ name: 'is-dialled', text }, [storableText(deviceId)])).length > 0;
  }

  /** All known devices, for the start of a gateway. */
  async allKnown(): Promise<readonly KnownDevice[]> {
    return (await this.deps.cache.all()).flatMap((device) => toKnownDevice(device) ?? []);
  }

  async findKnown(deviceId: string): Promise<KnownDevice | undefined> {
    return toKnownDevice(await this.deps.cache.find(deviceId));
  }

  /**
   * Whether the Client-Id is the one of the device. All other answers cost a share of one
   * statement, so that their time does not disclose which devices are known.
   */
  async recognise({ at, clientUuid, deviceId }: OtaContact): Promise<Recognition> {
    const { cache } = this.deps;
    const hash = hashOf(clientUuid);
    const remembered = provenBy(await cache.remembered(deviceId), hash);
    if (remembered) return { kind: 'proven', known: remembered };
    const device = await cache.read(deviceId);
    const known = provenBy(device, hash);
    if (known) return { kind: 'proven', known };
    const isKnown = device.credentials.length > 0;
    const replaces = isKnown && !isUnclaimed(device);
    const isOpen = isKnown && (device.admitWithoutCodeUntil ?? 0) > at;
    return { kind: 'unproven', isKnown, replaces, firstUse: isOpen ? (replaces ? 'past' : 'due') : 'none' };
  }

  /** Stores what the OTA request of a proven device says; another Client-Id changes nothing. */
  async contacted(contact: OtaContact): Promise<void> {
    const { cache, logger } = this.deps;
    if ((await cache.find(contact.deviceId)).credentials.length === 0) return;
    // The answer to the device does not depend on this write.
    this.#contacts.add(contact).catch((error: unknown) => {
      logger.warn(
        { deviceId: contact.deviceId, message: messageOf(error) },
        'the OTA request of a device was not recorded',
      );
    });
  }

  /** Sets the listener for committed contacts of this process. */
  whenNoted(listener: (contacts: readonly NotedContact[]) => void): void {
    this.#noted = listener;
  }

  writers(): readonly WriterStatus[] {
    return [this.#uses.status(), this.#contacts.status()];
  }

  async close(): Promise<void> {
    await Promise.all([this.#uses.close(), this.#contacts.close()]);
  }

  /**
   * Uses the cache where that grants access, and else PostgreSQL, at the same cost for known and
   * unknown devices.
   */
  async #check(
    deviceId: string,
    hash: string,
    isBearer: IsBearer,
  ): Promise<{ device: DeviceCredentials; verdict: CredentialVerdict }> {
    const { cache } = this.deps;
    const remembered = await cache.remembered(deviceId);
    const verdict = remembered && this.#judge(remembered, hash, isBearer);
    if (remembered && verdict?.kind === 'granted') return { device: remembered, verdict };
    const device = await cache.read(deviceId);
    return { device, verdict: this.#judge(device, hash, isBearer) };
  }

  #judge(device: DeviceCredentials, hash: string, isBearer: IsBearer): CredentialVerdict {
    const { now } = this.deps;
    const [newest] = device.credentials;
    const found = device.credentials.find(
      (credential) => isBearer(device, credential) && isEqualHash(credential.secretHash, hash),
    );
    if (found === undefined || (found.expiresAt !== undefined && found.expiresAt <= now()))
      return { kind: 'refused', deviceId: newest && device.deviceId };
    if (!found.isUsed) this.#noteUse(device, found);
    return { kind: 'granted', deviceId: device.deviceId };
  }

  #noteUse(device: DeviceCredentials, used: Credential): void {
    const { cache, logger, now } = this.deps;
    const { deviceId } = device;
    const { generation, mqttClientId } = used;
    const after = afterUse(device, used);
    cache.amend(device, after);
    this.#uses.add({ deviceId, generation, mqttClientId, at: now() }).catch((error: unknown) => {
      cache.unamend(device, after);
      logger.warn(
        { deviceId: device.deviceId, message: messageOf(error) },
        'the first use of a credential was not recorded; the next login will record it',
      );
    });
  }

  /** The first Client-Id wins, in whichever process it arrives. */
  async #bind(login: Omit<Parameters<typeof bindByToken>[1], 'at'>): Promise<boolean> {
    const { database, cache, now } = this.deps;
    const hasBound = await database.transaction((transaction) => bindByToken(transaction, { ...login, at: now() }));
    cache.forget([login.deviceId]);
    return hasBound;
  }
}

type IsBearer = (device: DeviceCredentials, credential: Credential) => boolean;

/** The device, where it is bound to this Client-Id. */
function provenBy(device: DeviceCredentials | undefined, clientUuidHash: string): KnownDevice | undefined {
  const bound = device?.clientUuidHash;
  return bound !== undefined && isEqualHash(bound, clientUuidHash) ? toKnownDevice(device) : undefined;
}
