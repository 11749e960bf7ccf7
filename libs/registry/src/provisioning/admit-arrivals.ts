/**
 * Lets in devices that need no person, many in one transaction: a hall of boards that is switched on costs a few statements. Each way in has its rule, checked under the
 * locks of the devices, so that nothing gets past it by being quick.
 */
import type { Queryable } from '../database/database.js';
import { readGroupZones } from '../groups/group-zones.js';
import { bindClient, enrolDevices } from './enrol-device.js';
import type { Enrolling, GivenNames, StoredContact } from './enrol-device.js';
import { takePlaces } from './enrolment-links.js';
import { isSerialOf } from './factory-keys.js';
import { lockDevices } from './issue-credentials.js';
import { markAdmitted } from './pending-enrolments.js';
import { standingOf } from './standing.js';
import type { Standing } from './standing.js';

/** What the device relies on: an enrolment link, mode `open`, or the serial number of a chip that proved itself. */
export type WayIn =
  { readonly by: 'link'; readonly token: string } | { readonly by: 'open' } | { readonly by: 'serial'; readonly serial: string };

export interface Arrival {
  readonly contact: StoredContact;
  readonly way: WayIn;
}

/** A device that is not in yet. `isReplacing`: it is known with another Client-Id. */
interface Stranger extends Arrival {
  readonly isReplacing: boolean;
}

/**
 * How each device stands afterwards, in the order of the arrivals; undefined where it was not let in. No device arrives twice. A known one is answered, a registered
 * one bound to its first Client-Id; a removed one waits for a person.
 */
export async function admitArrivals(transaction: Queryable, arrivals: readonly Arrival[]): Promise<readonly (Standing | undefined)[]> {
  const ids = arrivals.map(({ contact }) => contact.deviceId);
  await lockDevices(transaction, ids);
  const before = await standings(transaction, ids);
  const known = new Set<string>();
  const strangers: Stranger[] = [];
  for (const arrival of arrivals) {
    const { contact } = arrival;
    const standing = before.get(contact.deviceId);
    const isKnown = standing !== undefined && standing.credentials.length > 0;
    const isFirst = isKnown && standing.clientUuidHash === undefined;
    if (isFirst) await bindClient(transaction, contact);
    if (isFirst || (isKnown && standing.clientUuidHash === contact.clientUuidHash)) known.add(contact.deviceId);
    else if (standing?.isRemoved !== true) strangers.push({ ...arrival, isReplacing: isKnown });
  }
  const enrolling = await judge(transaction, strangers);
  await enrolDevices(transaction, enrolling);
  for (const { contact } of enrolling) known.add(contact.deviceId);
  await markAdmitted(
    transaction,
    arrivals.flatMap(({ contact }) => (known.has(contact.deviceId) ? [contact] : [])),
  );
  const after = await standings(transaction, [...known]);
  return ids.map((id) => after.get(id));
}

/** Those that may come in, with what they are given. */
async function judge(transaction: Queryable, strangers: readonly Stranger[]): Promise<readonly Enrolling[]> {
  const places = await placesOf(transaction, strangers);
  const enrolling: Enrolling[] = [];
  for (const { contact, way, isReplacing } of strangers) {
    const given = await givenTo({ contact, way, isReplacing });
    if (given) enrolling.push({ contact, given });
  }
  return enrolling;

  async function givenTo({ contact, way, isReplacing }: Stranger): Promise<GivenNames | undefined> {
    switch (way.by) {
      case 'link':
        return isReplacing ? undefined : places.get(way.token)?.shift();
      case 'open':
        return isReplacing ? undefined : {};
      case 'serial':
        return (await isSerialOf(transaction, way.serial, { deviceId: contact.deviceId, isKnown: isReplacing })) ? {} : undefined;
    }
  }
}

/** By token, one entry for each place that could be taken. Rows of links are locked in one order everywhere. */
async function placesOf(transaction: Queryable, strangers: readonly Stranger[]): Promise<ReadonlyMap<string, GivenNames[]>> {
  const wanted = new Map<string, { count: number; at: number }>();
  for (const { contact, way, isReplacing } of strangers) {
    if (way.by !== 'link' || isReplacing) continue;
    const { count, at } = wanted.get(way.token) ?? { count: 0, at: contact.at };
    wanted.set(way.token, { count: count + 1, at: Math.max(at, contact.at) });
  }
  const places = new Map<string, GivenNames[]>();
  for (const token of [...wanted.keys()].sort()) {
    const { count = 0, at = 0 } = wanted.get(token) ?? {};
    const taken = await takePlaces(transaction, { token, count, at });
    if (taken) places.set(token, Array<GivenNames>(taken.count).fill({ tags: taken.tags }));
  }
  return places;
}

async function standings(transaction: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, Standing>> {
  const zones = await readGroupZones(transaction);
  return new Map((await standingOf(transaction, ids, zones)).map((standing) => [standing.deviceId, standing]));
}
