/** The plan of all things that the files, the hub or the last apply name. */
import type { FlotillaClient } from '@flotilla/client';
import { say } from '../console/output.js';
import { printable } from '../console/printable.js';
import { UsageError } from '../exit-codes.js';
import type { Document } from './document.js';
import { readApplied, readLive, readReferences } from './hub-state.js';
import type { Kind, References } from './kind.js';
import { isChange, planOf, type PlannedChange } from './plan.js';

/**
 * In the order of kinds, then names. Things without a change are left out; notes are printed.
 * Throws UsageError where a thing names another one that the hub will not have after the apply.
 */
export async function planAll(
  document: Document,
  kinds: readonly Kind[],
  client: FlotillaClient,
): Promise<readonly PlannedChange[]> {
  const [live, applied] = [await readLive(kinds, client), await readApplied(client)];
  const all = kinds.flatMap((kind) => {
    const [wanted, had, has] = [document.get(kind.kind), applied.get(kind.kind), live.get(kind.kind)];
    const names = [...new Set([...(wanted?.keys() ?? []), ...(had?.keys() ?? [])])].sort().sort(kind.order);
    const changes = names
      .map((name) => ({ kind, name, wanted: wanted?.get(name), applied: had?.get(name), live: has?.get(name) }))
      .map((sides) => planOf(sides, process.env));
    for (const { name, note } of changes)
      if (note !== undefined) say(`${kind.kind} "${printable(name)}": nothing to do, because ${note}`);
    return changes;
  });
  const planned = all.filter(isChange);
  // One that stays as it is may name one that is deleted.
  const kept = all.filter((change) => isChange(change) || change.live !== undefined);
  requireNamed(kept, namedAfter(planned, document, await readReferences(client)));
  return planned;
}

/** An apply would end at this thing, after it has changed others. */
function requireNamed(planned: readonly PlannedChange[], references: References): void {
  for (const { kind, name, wanted } of planned) {
    try {
      if (wanted !== undefined) kind.requireNamed?.(wanted, references);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(`${kind.kind} "${printable(name)}": ${error.message}`, error.exitCode);
    }
  }
}

/** What can be named after the apply. What only the files have has no id yet. */
function namedAfter(
  planned: readonly PlannedChange[],
  document: Document,
  { groups, images, channels }: References,
): References {
  const named = (known: ReadonlyMap<string, string>, kind: string) => {
    const all = new Map([...[...(document.get(kind)?.keys() ?? [])].map((name) => [name, ''] as const), ...known]);
    for (const change of planned) if (change.kind.kind === kind && change.action === 'delete') all.delete(change.name);
    return all;
  };
  return {
    groups: named(groups, 'DeviceGroup'),
    images: named(images, 'FirmwareImage'),
    channels: named(channels, 'NotificationChannel'),
  };
}
