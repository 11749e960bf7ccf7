/**
 * Admits devices that need no approval, many in one transaction. Each rule is checked under the
 * locks of the devices, and each admission is audited.
 */
import { appendAudit } from '../../audit/append-audit.js';
import type { Queryable } from '../../database/database.js';
import { readGroupZones } from '../../groups/group-zones.js';
import { boundChange, hubFor } from '../credentials/client-bindings.js';
import type { BoundBy } from '../credentials/client-bindings.js';
import { blockedAmong } from './blocked-boards.js';
import { enrolDevices } from './enrol-devices.js';
import type { Enrolling, StoredContact } from './enrol-devices.js';
import { takePlaces } from './enrolment-links.js';
import { isSerialOf } from './factory-keys.js';
import { lockDevices } from '../credentials/issue-credentials.js';
import { markAdmitted } from './pending-enrolments.js';
import { isUnclaimed, readDeviceCredentials } from '../credentials/device-credentials.js';
import type { DeviceCredentials } from '../credentials/device-credentials.js';
import { admittedByMove } from '../moving/change-moving.js';

/**
 * The reason to admit a device: a link, mode `open`, trust on first use, its move from a former
 * server, or the serial of a chip.
 */
export type AdmissionWay =
  | { readonly by: 'link'; readonly token: string }
  | { readonly by: 'open' }
  | { readonly by: 'first_use' }
  | { readonly by: 'move' }
  | { readonly by: 'serial'; readonly serial: string };

export interface Admission {
  readonly contact: StoredContact;
  readonly way: AdmissionWay;
}

/** A device that is not admitted yet. `isTaken`: another Client-Id or board holds it. */
interface Stranger extends Admission {
  readonly isTaken: boolean;
  /** Only a person admits it, by a code or a later move. */
  readonly isRemoved: boolean;
  readonly isBlocked: boolean;
  /** As it was registered; undefined where it was not, or is taken. */
  readonly registered: DeviceCredentials | undefined;
}

/** A device that is admitted, and what the audit trail says of it. */
interface Admitted extends Enrolling {
  readonly by: BoundBy;
  readonly more: Readonly<Record<string, unknown>>;
}

/**
 * The state of each device afterwards, in their order; undefined where it was not admitted. No
 * device twice. A removed one waits for an approval, a blocked one for the end of its block.
 */
export async function admitContacts(
  transaction: Queryable,
  arrivals: readonly Admission[],
): Promise<readonly (DeviceCredentials | undefined)[]> {
  const ids = arrivals.map(({ contact }) => contact.deviceId);
  await lockDevices(transaction, ids);
  const before = await devicesById(transaction, ids);
  const blocked = await blockedAmong(transaction, ids, Math.max(...arrivals.map(({ contact }) => contact.at)));
  const known = new Set<string>();
  const strangers: Stranger[] = [];
  for (const arrival of arrivals) {
    const { clientUuidHash, deviceId } = arrival.contact;
    const device = before.get(deviceId);
    const isKnown = device !== undefined && device.credentials.length > 0;
    const registered = isKnown && isUnclaimed(device) ? device : undefined;
    if (isKnown && device.clientUuidHash === clientUuidHash) known.add(deviceId);
    else
      strangers.push({
        ...arrival,
        isTaken: isKnown && registered === undefined,
        isRemoved: device?.isRemoved === true,
        isBlocked: blocked.has(deviceId),
        registered,
      });
  }
  const admitted = await judge(transaction, strangers);
  await enrolDevices(transaction, admitted);
  for (const { contact } of admitted) known.add(contact.deviceId);
  await markAdmitted(
    transaction,
    arrivals.flatMap(({ contact }) => (known.has(contact.deviceId) ? [contact] : [])),
  );
  const after = await devicesById(transaction, [...known]);
  // Last, because its lock is held by one transaction at a time.
  await appendAudit(
    transaction,
    admitted.map(({ by, contact, more }) => ({
      ...boundChange(contact.deviceId, by, contact.at, more),
      ...hubFor(contact.remoteAddress),
    })),
  );
  return ids.map((id) => after.get(id));
}

/** Those that are admitted, with what they are given. A registered one keeps its name and tags. */
async function judge(transaction: Queryable, strangers: readonly Stranger[]): Promise<readonly Admitted[]> {
  const places = await placesOf(transaction, strangers);
  const coming = strangers.filter(({ way }) => way.by === 'move');
  const moved = await admittedByMove(
    transaction,
    coming.map(({ contact }) => contact),
  );
  const admitted: Admitted[] = [];
  for (const stranger of strangers) {
    const { contact, registered } = stranger;
    const grounds = await groundsOf(stranger);
    if (grounds === undefined) continue;
    const { by, tags, ...more } = grounds;
    const keepsCredential = registered !== undefined;
    admitted.push({ contact, by, more, keepsCredential, given: tags === undefined || keepsCredential ? {} : { tags } });
  }
  return admitted;

  async function groundsOf(stranger: Stranger): Promise<Grounds | undefined> {
    const { contact, isTaken, registered, way } = stranger;
    if (way.by === 'move')
      return stranger.isBlocked || isTaken || !moved.has(contact.deviceId) ? undefined : { by: 'move' };
    if (isExcluded(stranger)) return undefined;
    switch (way.by) {
      case 'link': {
        const place = isTaken ? undefined : places.get(way.token)?.shift();
        return place && { by: 'link', ...place };
      }
      case 'open':
        return isTaken ? undefined : { by: 'open' };
      case 'first_use':
        return (registered?.admitWithoutCodeUntil ?? 0) > contact.at ? { by: 'first_use' } : undefined;
      case 'serial': {
        const isProven = await isSerialOf(transaction, way.serial, { deviceId: contact.deviceId, isKnown: isTaken });
        return isProven ? { by: 'factory_key', replaces: isTaken } : undefined;
      }
    }
  }
}

function isExcluded({ isBlocked, isRemoved }: Stranger): boolean {
  return isRemoved || isBlocked;
}

interface Grounds {
  readonly by: BoundBy;
  readonly tags?: readonly string[];
  readonly link?: string;
  readonly replaces?: boolean;
}

/** One device's use of a link. */
interface Place {
  readonly link: string;
  readonly tags: readonly string[];
}

/**
 * The places of links that could be taken, by token. Links are locked in one order. The statement
 * also runs for zero places, so that it takes the same time for strangers.
 */
async function placesOf(transaction: Queryable, strangers: readonly Stranger[]): Promise<ReadonlyMap<string, Place[]>> {
  const wanted = new Map<string, { count: number; at: number }>();
  for (const stranger of strangers) {
    const { contact, way } = stranger;
    if (way.by !== 'link') continue;
    const { count, at } = wanted.get(way.token) ?? { count: 0, at: contact.at };
    wanted.set(way.token, {
      count: count + (isExcluded(stranger) || stranger.isTaken ? 0 : 1),
      at: Math.max(at, contact.at),
    });
  }
  const places = new Map<string, Place[]>();
  for (const token of [...wanted.keys()].sort()) {
    const { count = 0, at = 0 } = wanted.get(token) ?? {};
    const taken = await takePlaces(transaction, { token, count, at });
    if (taken) places.set(token, Array<Place>(taken.count).fill({ link: taken.id, tags: taken.tags }));
  }
  return places;
}

async function devicesById(
  transaction: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeviceCredentials>> {
  const zones = await readGroupZones(transaction);
  return new Map((await readDeviceCredentials(transaction, ids, zones)).map((device) => [device.deviceId, device]));
}
