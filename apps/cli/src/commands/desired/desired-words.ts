/** A desired state and its preview in words and columns. */
import type { ColumnLike } from '../../console/output-format.js';
import type {
  DesiredRowFragment,
  DesiredTargetFragment,
  PreviewDesiredStateQuery,
} from '../../generated/operations.js';

type Summary = DesiredRowFragment['summary'];
type Preview = PreviewDesiredStateQuery['previewDesiredState'];

/** States of a device that differs, or may differ, from a desired state that applies to it. */
export const outOfSyncStates = [
  'APPLYING',
  'RETRYING',
  'WAITING_DEVICE',
  'DRIFTED',
  'HELD',
  'CONFLICT',
  'FAILED',
] as const;

export const desiredColumns: readonly ColumnLike<DesiredRowFragment>[] = [
  'id',
  'name',
  { key: 'enabled', of: ({ enabled, pausedReason }) => (enabled ? 'yes' : (pausedReason ?? 'no')) },
  { key: 'inSync', of: ({ summary }) => `${summary.inSync}/${summary.targeted}` },
  { key: 'outOfSync', of: ({ summary }) => outOfSyncOf(summary) },
  'tool',
  'arguments',
  { key: 'window', of: windowText },
  'priority',
  { key: 'mode', of: ({ mode, onDrift }) => (mode === 'REPORT' ? mode : onDrift) },
];

export const targetColumns: readonly ColumnLike<DesiredTargetFragment>[] = [
  { key: 'device', of: ({ device }) => device.id },
  'state',
  'since',
  'desired',
  'reported',
  'attempts',
  'nextTryAt',
  { key: 'why', of: whyOf },
];

export function outOfSyncOf(summary: Summary): number {
  const { applying, retrying, waitingDevice, drifted, held, conflict, failed } = summary;
  return applying + retrying + waitingDevice + drifted + held + conflict + failed;
}

/** The counts that are not zero, such as `drifted 3, failed 1`. */
export function countsText(summary: Summary): string {
  const counts = Object.entries(summary).filter(
    ([name, count]) => name !== 'targeted' && !name.endsWith('Seconds') && typeof count === 'number' && count > 0,
  );
  return counts
    .map(([name, count]) => `${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} ${String(count)}`)
    .join(', ');
}

export function windowText({ window }: Pick<DesiredRowFragment, 'window'>): string {
  if (window === null) return 'always';
  const { from, to, zone, days } = window;
  return `${from}-${to}${days === null ? '' : ` on days ${days.join(',')}`} (${zone ?? 'zone of each device'})`;
}

function whyOf({ state, observedGeneration, error, blockedBy }: DesiredTargetFragment): string | undefined {
  if (error !== null) return `${error.code}: ${error.message}`;
  if (state === 'APPLYING' && observedGeneration === 0) return 'The roll-out has not reached it.';
  return blockedBy.length === 0 ? undefined : blockedBy.map(({ name }) => name).join(', ');
}

/** One line each: devices by what would happen to them, and conflicts by name. */
export function desiredPreviewInWords(preview: Preview): readonly string[] {
  const { targetCount, inSyncCount, changeCount, unsupportedCount, unknownCount, conflicts, sample } = preview;
  if (targetCount === 0) return ['The filter matches no devices now. Devices that match later are covered.'];
  return [
    `It covers ${devices(targetCount)}: ${inSyncCount} in sync already, ${changeCount} would change.`,
    ...(unknownCount > 0 ? [`The value of ${devices(unknownCount)} is not known yet.`] : []),
    ...(unsupportedCount > 0
      ? [`${devices(unsupportedCount)} without this tool or with another schema stay as is.`]
      : []),
    ...(sample.length > 0 ? [`Would change: ${sample.map(({ id }) => id).join(', ')}`] : []),
    ...conflicts.map(
      ({ name }) =>
        `Conflict: "${name}" wants another value with equal priority. Nothing is sent to the devices that both ` +
        'cover. Choose another --priority.',
    ),
  ];
}

function devices(count: number): string {
  return count === 1 ? '1 device' : `${count} devices`;
}
