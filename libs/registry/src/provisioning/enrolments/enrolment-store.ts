/** Enrols and removes devices. Each rule is checked in the transaction that acts on it. */
import type { DeviceId } from '@flotilla/mcp';
import { audited } from '../../audit/append-audit.js';
import type { AuditSource } from '../../audit/audit-entry.js';
import type { BatchWriter } from '../../database/batch-writer.js';
import type { Database } from '../../database/database.js';
import type { DeviceFilter } from '../../device-filter.js';
import type { DeviceRow } from '../../devices/device-rows.js';
import type { DeviceStore } from '../../devices/device-store.js';
import type { Page, PageRequest } from '../../page.js';
import type {
  Approval,
  ApprovalRequest,
  BlockedBoardRow,
  CreatedLink,
  EnrolmentLinkRow,
  EnrolmentRow,
  FactoryKey,
  KnownDevice,
  NewBlock,
  NewDevice,
  NewEnrolmentLink,
  OtaContact,
  PendingEnrolment,
  Registration,
  RemovedDevice,
} from '../provisioning.js';
import type { RegistryLogger } from '../../registry-logger.js';
import type { WriterStatus } from '../../registry.js';
import type { Admission, AdmissionWay } from './admit-contacts.js';
import { approveEnrolment } from './approve-enrolment.js';
import { blockBoard, pageOfBlocked, unblockBoard } from './blocked-boards.js';
import { openAdmissionWriter, openRequestWriter } from './enrolment-writers.js';
import { boundChange } from '../credentials/client-bindings.js';
import { toStoredContact } from './enrol-devices.js';
import type { StoredContact } from './enrol-devices.js';
import { createLink, listLinks, revokeLink } from './enrolment-links.js';
import { factoryKeyOf, importFactoryKeys } from './factory-keys.js';
import { pageOfPending, pendingChallenge, rejectPending } from './pending-enrolments.js';
import { insertWithin, registeredChanges, removeDevices, takenAmong } from './register-devices.js';
import { toKnownDevice } from '../credentials/device-credentials.js';
import type { DeviceCredentials } from '../credentials/device-credentials.js';
import type { CredentialCache } from '../credentials/credential-cache.js';

interface EnrolmentStoreDeps {
  readonly database: Database;
  readonly cache: CredentialCache;
  readonly devices: Pick<DeviceStore, 'find' | 'findMany'>;
  readonly logger: RegistryLogger;
  readonly now: () => number;
}

/** With `by`, changes are recorded in the audit trail in their own transaction. */
export class EnrolmentStore {
  readonly #admissions: BatchWriter<Admission, DeviceCredentials | undefined>;
  readonly #requests: BatchWriter<StoredContact, PendingEnrolment>;

  constructor(private readonly deps: EnrolmentStoreDeps) {
    this.#admissions = openAdmissionWriter(deps.database, deps.logger, (ids) => deps.cache.forget(ids));
    this.#requests = openRequestWriter(deps.database, deps.logger);
  }

  /**
   * The pending enrolment of this device and Client-Id, created if missing. At most 1,000 wait: the
   * oldest of the largest network is removed first.
   */
  request(contact: OtaContact): Promise<PendingEnrolment> {
    return this.#requests.add(toStoredContact(contact));
  }

  /** The challenge of the pending enrolment of this device and Client-Id; undefined without one. */
  challengeOf(contact: OtaContact): Promise<string | undefined> {
    return pendingChallenge(this.deps.database, toStoredContact(contact));
  }

  /**
   * Enrols at once: mode `open`, or a factory key, whose `serial` belongs to this device from then
   * on. Undefined if only a person can decide.
   */
  admit(contact: OtaContact, proof?: { readonly serial: string }): Promise<KnownDevice | undefined> {
    return this.#admit(contact, proof ? { by: 'serial', serial: proof.serial } : { by: 'open' });
  }

  /** Enrols the first Client-Id of a registered device while its `admitWithoutCodeUntil` lasts. */
  admitFirstUse(contact: OtaContact): Promise<KnownDevice | undefined> {
    return this.#admit(contact, { by: 'first_use' });
  }

  /** Enrols a board that was moved here, with the Client-Id by which it asked its former server. */
  admitMoved(contact: OtaContact): Promise<KnownDevice | undefined> {
    return this.#admit(contact, { by: 'move' });
  }

  /**
   * Enrols at once with the token of a link; undefined if it is full or over, for a removed device,
   * and for another Client-Id. A known device is not counted again.
   */
  admitByLink(token: string, contact: OtaContact): Promise<KnownDevice | undefined> {
    return this.#admit(contact, { by: 'link', token });
  }

  page(page: PageRequest): Promise<Page<EnrolmentRow>> {
    return pageOfPending(this.deps.database, page, this.deps.now());
  }

  /** Enrols the device that shows the code. */
  async approve(approval: ApprovalRequest, by?: AuditSource): Promise<Approval> {
    const { database, cache, devices } = this.deps;
    const { name, tags, at } = approval;
    const verdict = await audited(
      database,
      by,
      (transaction) => approveEnrolment(transaction, approval),
      (made) =>
        made.kind === 'approved'
          ? [
              {
                action: 'enrolment.approved',
                subject: `device:${made.deviceId}`,
                data: { name, tags, replaces: made.hasReplaced },
                at,
              },
              boundChange(made.deviceId, 'code', at, { replaces: made.hasReplaced }),
            ]
          : [],
    );
    if (verdict.kind !== 'approved') return verdict;
    cache.forget([verdict.deviceId]);
    const device = await devices.find(verdict.deviceId);
    // The device was removed between the two statements.
    return device === undefined
      ? { kind: 'NOT_FOUND' }
      : { kind: 'approved', device, hasReplaced: verdict.hasReplaced };
  }

  /** Removes a pending enrolment, and resolves to its device. */
  reject(id: string, by?: AuditSource): Promise<DeviceId | undefined> {
    const { database, now } = this.deps;
    return audited(
      database,
      by,
      (transaction) => rejectPending(transaction, id, now()),
      (deviceId) =>
        deviceId ? [{ action: 'enrolment.rejected', subject: `device:${deviceId}`, data: { id }, at: now() }] : [],
    );
  }

  /** The latest first; without those that have ended. */
  blockedPage(page: PageRequest): Promise<Page<BlockedBoardRow>> {
    return pageOfBlocked(this.deps.database, page, this.deps.now());
  }

  /** Blocks a board until a time or without an end; `full` beyond 10,000. */
  block(block: NewBlock, by?: AuditSource): Promise<BlockedBoardRow | 'full'> {
    return audited(
      this.deps.database,
      by,
      (transaction) => blockBoard(transaction, block),
      (made) => (made === 'full' ? [] : [blockedChange('board.blocked', made.deviceId, made.blockedAt, endOf(made))]),
    );
  }

  /** Undefined where the board is not blocked. */
  unblock(deviceId: string, by?: AuditSource): Promise<DeviceId | undefined> {
    const { database, now } = this.deps;
    return audited(
      database,
      by,
      (transaction) => unblockBoard(transaction, deviceId),
      (id) => (id ? [blockedChange('board.unblocked', id, now(), {})] : []),
    );
  }

  /** Removes links that ended where there is no room. */
  createLink(link: NewEnrolmentLink, by?: AuditSource): Promise<CreatedLink> {
    const { database, now } = this.deps;
    return audited(
      database,
      by,
      (transaction) => createLink(transaction, link, now()),
      (made) => [
        { action: 'enrolment_link.created', subject: `enrolment_link:${made.link.id}`, data: { ...link }, at: now() },
      ],
    );
  }

  revokeLink(id: string, at: number, by?: AuditSource): Promise<EnrolmentLinkRow | undefined> {
    return audited(
      this.deps.database,
      by,
      (transaction) => revokeLink(transaction, id, at),
      (link) =>
        link
          ? [{ action: 'enrolment_link.revoked', subject: `enrolment_link:${link.id}`, data: { name: link.name }, at }]
          : [],
    );
  }

  /** The latest first. */
  links(): Promise<readonly EnrolmentLinkRow[]> {
    return listLinks(this.deps.database);
  }

  /**
   * Registers devices before they connect, all or none. `within`: the access scope of the caller.
   */
  async register(devices: readonly NewDevice[], by?: AuditSource, within?: DeviceFilter): Promise<Registration> {
    const { database, cache, now } = this.deps;
    const ids = devices.map(({ deviceId }) => deviceId);
    const taken = await takenAmong(database, ids, within);
    if (taken) return taken;
    try {
      const at = now();
      const beyond = await audited(
        database,
        by,
        (transaction) => insertWithin(transaction, devices, at, within),
        (unseen) => (unseen !== undefined ? [] : devices).flatMap((device) => registeredChanges(device, at)),
      );
      if (beyond !== undefined) return { kind: 'beyond', deviceId: beyond };
    } catch (error) {
      // Another process created one of them meanwhile.
      const made = await takenAmong(database, ids, within);
      if (made) return made;
      throw error;
    }
    cache.forget(ids);
    return { kind: 'registered', devices: await this.#registered(ids) };
  }

  /** Removes a device with its credentials and enrolments. Its history stays. */
  async remove(deviceId: string, by?: AuditSource): Promise<RemovedDevice | undefined> {
    return (await this.removeMany([deviceId], by))[0];
  }

  /** The same for many, in one transaction. Resolves to those that were there. */
  async removeMany(deviceIds: readonly string[], by?: AuditSource): Promise<readonly RemovedDevice[]> {
    const { database, cache, now } = this.deps;
    const at = now();
    const removed = await audited(
      database,
      by,
      (transaction) => removeDevices(transaction, deviceIds, at),
      (devices) => devices.map(({ id }) => ({ action: 'device.removed', subject: `device:${id}`, data: {}, at })),
    );
    cache.forget(deviceIds);
    return removed;
  }

  /** Whether the device was removed: its fleet-wide HMAC is not enough then. */
  async isDenied(deviceId: string): Promise<boolean> {
    return (await this.deps.cache.find(deviceId)).isRemoved;
  }

  /** Adds or replaces keys that a factory wrote into chips, and counts them. */
  importFactoryKeys(keys: readonly FactoryKey[]): Promise<number> {
    return this.deps.database.transaction((transaction) => importFactoryKeys(transaction, keys));
  }

  /** The key to check the HMAC of a chip with. */
  factoryKeyOf(serial: string): Promise<Uint8Array | undefined> {
    return factoryKeyOf(this.deps.database, serial);
  }

  writers(): readonly WriterStatus[] {
    return [this.#admissions.status(), this.#requests.status()];
  }

  async close(): Promise<void> {
    await Promise.all([this.#admissions.close(), this.#requests.close()]);
  }

  async #admit(contact: OtaContact, way: AdmissionWay): Promise<KnownDevice | undefined> {
    return toKnownDevice(await this.#admissions.add({ contact: toStoredContact(contact), way }));
  }

  async #registered(
    ids: readonly DeviceId[],
  ): Promise<readonly { readonly device: DeviceRow; readonly known: KnownDevice | undefined }[]> {
    const { cache, devices } = this.deps;
    const rows = await devices.findMany(ids);
    const credentials = await Promise.all(ids.map((id) => cache.find(id)));
    return ids.flatMap((_, index) => {
      const device = rows[index];
      return device === undefined ? [] : [{ device, known: toKnownDevice(credentials[index]) }];
    });
  }
}

function blockedChange(action: string, deviceId: string, at: number, data: Readonly<Record<string, unknown>>) {
  return { action, subject: `device:${deviceId}`, data, at };
}

function endOf({ blockedUntil }: BlockedBoardRow): Readonly<Record<string, unknown>> {
  return { until: blockedUntil === undefined ? null : new Date(blockedUntil).toISOString() };
}
