/**
 * Creates, changes and deletes device groups, which are saved filters. The registry finds their
 * members.
 */
import { isTimeZone } from '@flotilla/mcp';
import { groupIdsIn, isResolvedFilter } from '@flotilla/registry';
import type { DeviceFilter, DeviceGroupAnswer, DeviceGroupRow, ResolvedFilter, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { refuseFilter } from '../device-filter-rules.js';
import { requestHash } from '../idempotency/request-hash.js';
import { changedMeanwhile, refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { chooseVoiceServers } from '../voice/choose-voice-servers.js';
import type { ChosenVoice } from '../voice/choose-voice-servers.js';
import type { VoiceOrigins } from '../voice/voice-origins.js';

interface DeviceGroupDeps {
  readonly registry: Pick<Registry, 'deviceGroups'>;
  readonly clock: Clock;
  readonly voiceOrigins: VoiceOrigins;
}

export interface DeviceGroupRequest {
  readonly name: string;
  readonly filter: DeviceFilter;
  /** IANA name. */
  readonly timeZone: string | undefined;
  readonly voiceUrl: string | undefined;
}

export type SavedGroup = { readonly group: DeviceGroupRow } | { readonly refusal: Refusal };

/** Groups of one hub: the groups of a device are found by asking each. */
const groupsMax = 200;
const VOICE_PATH = ['input', 'voiceUrl'];
/** One line of a list. */
const namePattern = /^\P{Cc}{1,100}$/u;

export async function createDeviceGroup(
  { registry, clock, voiceOrigins }: DeviceGroupDeps,
  request: DeviceGroupRequest,
  actor: Actor,
): Promise<SavedGroup> {
  const checked = checkGroup(
    request,
    chooseVoiceServers({ text: request.voiceUrl, before: [], path: VOICE_PATH }, actor, voiceOrigins),
  );
  if ('refusal' in checked) return checked;
  return savedGroup(await registry.deviceGroups.create(checked, { groupsMax, at: clock.now(), by: sourceOf(actor) }));
}

/** Replaces all of it. Without an expected revision it replaces any. */
export async function updateDeviceGroup(
  { registry, clock, voiceOrigins }: DeviceGroupDeps,
  id: string,
  request: DeviceGroupRequest,
  actor: Actor,
  expectedRevision?: string,
): Promise<SavedGroup> {
  const [group] = await registry.deviceGroups.findMany([id]);
  const choice = { text: request.voiceUrl, before: group?.voiceUrls ?? [], path: VOICE_PATH };
  const checked = checkGroup(request, chooseVoiceServers(choice, actor, voiceOrigins));
  if ('refusal' in checked) return checked;
  const isExpected = (stored: DeviceGroupRow) =>
    expectedRevision === undefined || groupRevision(stored) === expectedRevision;
  const change = { at: clock.now(), by: sourceOf(actor), isExpected };
  return savedGroup(await registry.deviceGroups.update({ ...checked, id }, change), id);
}

/** Another one after each change of the group. */
export function groupRevision({ name, filter, timeZone, voiceUrls }: DeviceGroupRow): string {
  return requestHash({ name, filter, timeZone, voiceUrls });
}

/** Jobs that were made with it keep their devices. */
export async function deleteDeviceGroup(
  { registry, clock }: DeviceGroupDeps,
  id: string,
  actor: Actor,
): Promise<{ readonly refusal?: Refusal }> {
  const isRemoved = await registry.deviceGroups.remove(id, { at: clock.now(), by: sourceOf(actor) });
  return isRemoved ? {} : { refusal: noSuchGroup(id, ['id']) };
}

/** The first group that a filter names and that is not there. */
export async function refuseUnknownGroups(
  { deviceGroups }: { readonly deviceGroups: Pick<Registry['deviceGroups'], 'findMany'> },
  filter: DeviceFilter,
  path: readonly string[],
): Promise<Refusal | undefined> {
  const ids = groupIdsIn(filter);
  if (ids.length === 0) return undefined;
  const unknown = (await deviceGroups.findMany(ids)).findIndex((group) => group === undefined);
  return unknown < 0 ? undefined : noSuchGroup(ids[unknown] ?? '', path);
}

/** The rule for the zone of a group or device. Null takes it away. */
export function refuseTimeZone(timeZone: string | null | undefined, path: readonly string[]): Refusal | undefined {
  if (timeZone === null || timeZone === undefined || isTimeZone(timeZone)) return undefined;
  return refuse('INVALID', path, 'A time zone is a name of the tz database, such as "Europe/Berlin".');
}

type CheckedGroup = Omit<DeviceGroupRow, 'id'> | { readonly refusal: Refusal };

function checkGroup({ name, filter, timeZone }: DeviceGroupRequest, voice: ChosenVoice): CheckedGroup {
  if (name.trim() === '' || !namePattern.test(name)) {
    return {
      refusal: refuse('INVALID', ['input', 'name'], 'The name of a group has 1 to 100 characters, all on one line.'),
    };
  }
  if (!isResolvedFilter(filter)) {
    return {
      refusal: refuse(
        'INVALID',
        ['input', 'filter'],
        'The filter of a group names no other group: write out its conditions.',
      ),
    };
  }
  const refusal = refuseFilter(filter, ['input', 'filter']) ?? refuseTimeZone(timeZone, ['input', 'timeZone']);
  if (refusal !== undefined) return { refusal };
  if ('refusal' in voice) return voice;
  return { name, filter: filter satisfies ResolvedFilter, timeZone, voiceUrls: voice.voiceUrls };
}

function savedGroup(answer: DeviceGroupAnswer, id = ''): SavedGroup {
  switch (answer.kind) {
    case 'saved':
      return { group: answer.group };
    case 'NOT_FOUND':
      return { refusal: noSuchGroup(id, ['id']) };
    case 'OTHER_REVISION':
      return { refusal: changedMeanwhile('device group') };
    case 'NAME_TAKEN':
      return { refusal: refuse('CONFLICT', ['input', 'name'], 'Another group has this name; no group was changed.') };
    case 'FULL':
      return {
        refusal: refuse(
          'LIMIT_EXCEEDED',
          [],
          `There are ${groupsMax} groups; delete one that is not needed, or use tags.`,
        ),
      };
    case 'FILTER_INVALID':
      return {
        refusal: refuse(
          'INVALID',
          ['input', 'filter'],
          'The database cannot answer this filter; look for characters that no device has.',
        ),
      };
  }
}

function noSuchGroup(id: string, path: readonly string[]): Refusal {
  return refuse('NOT_FOUND', path, `There is no device group "${id.slice(0, 100)}".`);
}
