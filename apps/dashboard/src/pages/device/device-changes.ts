/** What a form changes of a device. */
import type { TransportKind } from './generated/device';

interface DeviceFields {
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly timeZone: string | null;
  readonly voiceUrl: string | null;
}

interface WantedFields extends DeviceFields {
  /** Undefined: as it is. */
  readonly transport: TransportKind | undefined;
}

/** Only what was changed in the form: another person may have changed the rest meanwhile. */
export function deviceChanges(former: DeviceFields, wanted: WantedFields) {
  const hasOtherTags = wanted.tags.join('\n') !== former.tags.join('\n');
  return {
    ...(wanted.name !== former.name && { name: wanted.name }),
    ...(hasOtherTags && { tags: [...wanted.tags] }),
    ...(wanted.timeZone !== former.timeZone && { timeZone: wanted.timeZone }),
    ...(wanted.voiceUrl !== former.voiceUrl && { voiceUrl: wanted.voiceUrl }),
    ...(wanted.transport !== undefined && { transport: wanted.transport }),
  };
}
