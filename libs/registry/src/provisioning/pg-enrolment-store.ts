/**
 * Lets devices in, each way with its own rule, and out again. Every rule is checked in the
 * transaction that acts on it, so that nothing gets past it by being quick.
 */
import type { DeviceId } from '@flotilla/mcp';
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import type { BatchWriter } from '../database/batch-writer.js';
import type { Database } from '../database/database.js';
import type { DeviceFilter } from '../device-filter.js';
import type { DeviceRow, DeviceStore } from '../devices/device-types.js';
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
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import type { Arrival, WayIn } from './admit-arrivals.js';
import { approveEnrolment } from './approve-enrolment.js';
import { openArrivalWriter, openRequestWriter } from './arrival-writer.js';
import { boundAct } from './client-bindings.js';
import { toStoredContact } from './enrol-device.js';
import type { StoredContact } from './enrol-device.js';
import { createLink, listLinks, revokeLink } from './enrolment-links.js';
import { factoryKeyOf, importFactoryKeys } from './factory-keys.js';
import { pageOfPending, rejectPending } from './pending-enrolments.js';
import { existingOf, insertWithin, registeredActs, removeDevice, unseenOf } from './register-devices.js';
import { toKnownDevice } from './standing.js';
import type { Standing } from './standing.js';
import type { StandingBook } from './standing-book.js';

export interface EnrolmentStoreDeps {
  readonly database: Database;
  readonly book: StandingBook;
  readonly devices: Pick<DeviceStore, 'find' | 'findMany'>;
  readonly logger: RegistryLogger;
  readonly now: () => number;
}

export class PgEnrolmentStore implements EnrolmentStore {
  readonly #deps: EnrolmentStoreDeps;
  readonly #arrivals: BatchWriter<Arrival, Standing | undefined>;
  readonly #requests: BatchWriter<StoredContact, PendingEnrolment>;

  constructor(deps: EnrolmentStoreDeps) {
    this.#deps = deps;
    this.#arrivals = openArrivalWriter(deps.database, deps.logger, (ids) => deps.book.forget(ids));
    this.#requests = openRequestWriter(deps.database, deps.logger);
  }

  request(contact: OtaContact): Promise<PendingEnrolment> {
    return this.#requests.add(toStoredContact(contact));
  }

  admit(contact: OtaContact, proof?: { readonly serial: string }): Promise<KnownDevice | undefined> {
    return this.#letIn(contact, proof ? { by: 'serial', serial: proof.serial } : { by: 'open' });
  }

  admitFirstUse(contact: OtaContact): Promise<KnownDevice | undefined> {
    return this.#letIn(contact, { by: 'first_use' });
  }

  admitByLink(token: string, contact: OtaContact): Promise<KnownDevice | undefined> {
    return this.#letIn(contact, { by: 'link', token });
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
          ? [
              {
                action: 'enrolment.approved',
                subject: `device:${made.deviceId}`,
                data: { name, tags, replaces: made.hasReplaced },
                at,
              },
              boundAct(made.deviceId, 'code', at, { replaces: made.hasReplaced }),
            ]
          : [],
    );
    if (verdict.kind !== 'approved') return verdict;
    book.forget([verdict.deviceId]);
    const device = await devices.find(verdict.deviceId);
    // Removed between the two statements: then it was not let in for anybody to see.
    return device === undefined
      ? { kind: 'NOT_FOUND' }
      : { kind: 'approved', device, hasReplaced: verdict.hasReplaced };
  }

  reject(id: string, by?: AuditSource): Promise<DeviceId | undefined> {
    const { database, now } = this.#deps;
    return audited(
      database,
      by,
      (transaction) => rejectPending(transaction, id),
      (deviceId) =>
        deviceId ? [{ action: 'enrolment.rejected', subject: `device:${deviceId}`, data: { id }, at: now() }] : [],
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
      (made) => [
        { action: 'enrolment_link.created', subject: `enrolment_link:${made.link.id}`, data: { ...link }, at: now() },
      ],
    );
  }

  revokeLink(id: string, at: number, by?: AuditSource): Promise<EnrolmentLinkRow | undefined> {
    return audited(
      this.#deps.database,
      by,
      (transaction) => revokeLink(transaction, id, at),
      (link) =>
        link
          ? [{ action: 'enrolment_link.revoked', subject: `enrolment_link:${link.id}`, data: { name: link.name }, at }]
          : [],
    );
  }

  links(): Promise<readonly EnrolmentLinkRow[]> {
    return listLinks(this.#deps.database);
  }

  async register(
    devices: readonly NewDevice[],
    by?: AuditSource,
    within?: DeviceFilter,
  ): ReturnType<EnrolmentStore['register']> {
    const { database, book, now } = this.#deps;
    const ids = devices.map(({ deviceId }) => deviceId);
    const taken = await takenAmong(database, ids, within);
    if (taken) return taken;
    try {
      const at = now();
      const beyond = await audited(
        database,
        by,
        (transaction) => insertWithin(transaction, devices, at, within),
        (unseen) => (unseen !== undefined ? [] : devices).flatMap((device) => registeredActs(device, at)),
      );
      if (beyond !== undefined) return { kind: 'beyond', deviceId: beyond };
    } catch (error) {
      // Somebody else made one of them meanwhile.
      const made = await takenAmong(database, ids, within);
      if (made) return made;
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

  writers(): readonly WriterStatus[] {
    return [this.#arrivals.status(), this.#requests.status()];
  }

  async close(): Promise<void> {
    await Promise.all([this.#arrivals.close(), this.#requests.close()]);
  }

  async #letIn(contact: OtaContact, way: WayIn): Promise<KnownDevice | undefined> {
    return toKnownDevice(await this.#arrivals.add({ contact: toStoredContact(contact), way }));
  }

  async #registered(
    ids: readonly DeviceId[],
  ): Promise<readonly { readonly device: DeviceRow; readonly known: KnownDevice | undefined }[]> {
    const { book, devices } = this.#deps;
    const rows = await devices.findMany(ids);
    const standings = await Promise.all(ids.map((id) => book.find(id)));
    return ids.flatMap((_, index) => {
      const device = rows[index];
      return device === undefined ? [] : [{ device, known: toKnownDevice(standings[index]) }];
    });
  }
}

/**
 * Of somebody who is narrowed, a device that is there and not theirs is as one that would not be
 * theirs.
 */
async function takenAmong(
  database: Database,
  ids: readonly DeviceId[],
  within: DeviceFilter | undefined,
): Promise<Exclude<Awaited<ReturnType<EnrolmentStore['register']>>, { readonly kind: 'registered' }> | undefined> {
  const existing = await existingOf(database, ids);
  const unseen = await unseenOf(database, existing, within);
  if (unseen !== undefined) return { kind: 'beyond', deviceId: unseen };
  const conflicts = [...existing, ...repeatedOf(ids)];
  return conflicts.length > 0 ? { kind: 'conflict', conflicts } : undefined;
}

function repeatedOf(ids: readonly string[]): readonly string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}
