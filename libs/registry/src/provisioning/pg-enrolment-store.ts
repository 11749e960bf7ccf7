/** Lets devices in, each way with its own rule, and out again. Every rule is checked in the transaction that acts on it, so that nothing gets past it by being quick. */
import type { DeviceId } from '@flotilla/mcp';
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit-store.js';
import type { Database, Queryable } from '../database/database.js';
import type { DeviceRow, DeviceStore } from '../device-store.js';
import type { Page, PageRequest } from '../page.js';
import type {
  Approval,
  EnrolmentLinkRow,
  EnrolmentRow,
  EnrolmentStore,
  FactoryKey,
  KnownDevice,
  NewDevice,
  OtaContact,
  PendingEnrolment,
} from '../provisioning-store.js';
import { RegistryError } from '../registry-error.js';
import { approveEnrolment } from './approve-enrolment.js';
import { bindClient, enrolDevice, toStoredContact } from './enrol-device.js';
import type { StoredContact } from './enrol-device.js';
import { createLink, listLinks, revokeLink, takePlace } from './enrolment-links.js';
import { isSerialOf, factoryKeyOf, importFactoryKeys } from './factory-keys.js';
import { lockDevice } from './issue-credentials.js';
import { addPending, isAdmitted, lockPending, markAdmitted, pageOfPending, rejectPending } from './pending-enrolments.js';
import { existingOf, insertDevices, removeDevice } from './register-devices.js';
import { standingOf, toKnownDevice } from './standing.js';
import type { Standing } from './standing.js';
import type { StandingBook } from './standing-book.js';

export interface EnrolmentStoreDeps {
  readonly database: Database;
  readonly book: StandingBook;
  readonly devices: Pick<DeviceStore, 'find' | 'findMany'>;
  readonly now: () => number;
}

export class PgEnrolmentStore implements EnrolmentStore {
  readonly #deps: EnrolmentStoreDeps;

  constructor(deps: EnrolmentStoreDeps) {
    this.#deps = deps;
  }

  request(contact: OtaContact): Promise<PendingEnrolment> {
    return this.#deps.database.transaction(async (transaction) => {
      await lockPending(transaction, contact.at);
      return addPending(transaction, toStoredContact(contact));
    });
  }

  admit(contact: OtaContact, proof?: { readonly serial: string }): Promise<KnownDevice | undefined> {
    return this.#letIn(contact, async (transaction, stored, isReplacing) => {
      const { deviceId } = stored;
      const isAllowed = proof ? await isSerialOf(transaction, proof.serial, { deviceId, isKnown: isReplacing }) : !isReplacing;
      return isAllowed ? {} : undefined;
    });
  }

  admitByLink(token: string, contact: OtaContact): Promise<KnownDevice | undefined> {
    return this.#letIn(contact, async (transaction, { at }, isReplacing) => {
      const tags = isReplacing ? undefined : await takePlace(transaction, token, at);
      return tags && { tags };
    });
  }

  isAdmitted(deviceId: DeviceId, challenge: string): Promise<boolean> {
    return isAdmitted(this.#deps.database, deviceId, challenge);
  }

  page(page: PageRequest): Promise<Page<EnrolmentRow>> {
    return pageOfPending(this.#deps.database, page, this.#deps.now());
  }

  async approve(approval: Parameters<EnrolmentStore['approve']>[0], by?: AuditSource): Promise<Approval> {
    const { database, book, devices } = this.#deps;
    const { name, tags, at } = approval;
    const verdict = await audited(
      database,
      by,
      (transaction) => approveEnrolment(transaction, approval),
      (made) =>
        made.kind === 'approved'
          ? [{ action: 'enrolment.approved', subject: `device:${made.deviceId}`, data: { name, tags, replaces: made.hasReplaced }, at }]
          : [],
    );
    if (verdict.kind !== 'approved') return verdict;
    book.forget([verdict.deviceId]);
    const device = await devices.find(verdict.deviceId);
    // Removed between the two statements: then it was not let in for anybody to see.
    return device === undefined ? { kind: 'NOT_FOUND' } : { kind: 'approved', device, hasReplaced: verdict.hasReplaced };
  }

  reject(id: string, by?: AuditSource): Promise<DeviceId | undefined> {
    const { database, now } = this.#deps;
    return audited(
      database,
      by,
      (transaction) => rejectPending(transaction, id),
      (deviceId) => (deviceId ? [{ action: 'enrolment.rejected', subject: `device:${deviceId}`, data: { id }, at: now() }] : []),
    );
  }

  createLink(
    link: Parameters<EnrolmentStore['createLink']>[0],
    by?: AuditSource,
  ): Promise<{ readonly link: EnrolmentLinkRow; readonly token: string }> {
    const { database, now } = this.#deps;
    return audited(
      database,
      by,
      (transaction) => createLink(transaction, link),
      (made) => [{ action: 'enrolment_link.created', subject: `enrolment_link:${made.link.id}`, data: { ...link }, at: now() }],
    );
  }

  revokeLink(id: string, at: number, by?: AuditSource): Promise<EnrolmentLinkRow | undefined> {
    return audited(
      this.#deps.database,
      by,
      (transaction) => revokeLink(transaction, id, at),
      (link) => (link ? [{ action: 'enrolment_link.revoked', subject: `enrolment_link:${link.id}`, data: { name: link.name }, at }] : []),
    );
  }

  links(): Promise<readonly EnrolmentLinkRow[]> {
    return listLinks(this.#deps.database);
  }

  async register(devices: readonly NewDevice[], by?: AuditSource): ReturnType<EnrolmentStore['register']> {
    const { database, book, now } = this.#deps;
    const ids = devices.map(({ deviceId }) => deviceId);
    const conflicts = [...(await existingOf(database, ids)), ...repeatedOf(ids)];
    if (conflicts.length > 0) return { kind: 'conflict', conflicts };
    try {
      const at = now();
      await audited(
        database,
        by,
        (transaction) => insertDevices(transaction, devices, at),
        () => devices.map(({ deviceId, ...data }) => ({ action: 'device.registered', subject: `device:${deviceId}`, data, at })),
      );
    } catch (error) {
      // Somebody else made one of them meanwhile.
      const made = await existingOf(database, ids);
      if (made.length > 0) return { kind: 'conflict', conflicts: made };
      throw error;
    }
    book.forget(ids);
    return { kind: 'registered', devices: await this.#registered(ids) };
  }

  async remove(deviceId: string, by?: AuditSource): Promise<DeviceId | undefined> {
    const { database, book, now } = this.#deps;
    const at = now();
    const removed = await audited(
      database,
      by,
      (transaction) => removeDevice(transaction, deviceId, at),
      (id) => (id ? [{ action: 'device.removed', subject: `device:${id}`, data: {}, at }] : []),
    );
    book.forget([deviceId]);
    return removed;
  }

  async isDenied(deviceId: string): Promise<boolean> {
    return (await this.#deps.book.find(deviceId)).isRemoved;
  }

  importFactoryKeys(keys: readonly FactoryKey[]): Promise<number> {
    return this.#deps.database.transaction((transaction) => importFactoryKeys(transaction, keys));
  }

  factoryKeyOf(serial: string): Promise<Uint8Array | undefined> {
    return factoryKeyOf(this.#deps.database, serial);
  }

  /** Enrols if `judge` gives names. A known device is answered; a removed one waits for a person, and so does one with another Client-Id unless `judge` says otherwise. */
  async #letIn(contact: OtaContact, judge: Judge): Promise<KnownDevice | undefined> {
    const { database, book } = this.#deps;
    const stored = toStoredContact(contact);
    const answer = await database.transaction(async (transaction) => {
      await lockDevice(transaction, stored.deviceId);
      const standing = await currentStanding(transaction, stored.deviceId);
      const isKnown = standing.credentials.length > 0;
      if (isKnown && standing.clientUuidHash === stored.clientUuidHash) return standing;
      if (isKnown && standing.clientUuidHash === undefined) {
        await bindClient(transaction, stored);
      } else {
        const names = standing.isRemoved ? undefined : await judge(transaction, stored, isKnown);
        if (names === undefined) return undefined;
        await enrolDevice(transaction, stored, names);
      }
      await markAdmitted(transaction, stored);
      return currentStanding(transaction, stored.deviceId);
    });
    book.forget([stored.deviceId]);
    return toKnownDevice(answer);
  }

  async #registered(ids: readonly DeviceId[]): Promise<readonly { readonly device: DeviceRow; readonly known: KnownDevice | undefined }[]> {
    const { book, devices } = this.#deps;
    const rows = await devices.findMany(ids);
    const standings = await Promise.all(ids.map((id) => book.find(id)));
    return ids.flatMap((_, index) => {
      const device = rows[index];
      return device === undefined ? [] : [{ device, known: toKnownDevice(standings[index]) }];
    });
  }
}

/** Names for a device that may come in. `isReplacing`: it is known with another Client-Id. */
type Judge = (
  transaction: Queryable,
  contact: StoredContact,
  isReplacing: boolean,
) => Promise<{ readonly tags?: readonly string[] } | undefined>;

async function currentStanding(transaction: Queryable, deviceId: string): Promise<Standing> {
  const [standing] = await standingOf(transaction, [deviceId]);
  if (standing === undefined) throw new RegistryError('DATABASE_REFUSED', `Nothing was read of the device ${deviceId}.`);
  return standing;
}

function repeatedOf(ids: readonly string[]): readonly string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}
