/** The plan of all things that the files, the hub or the last apply name. */
import type { FlotillaClient } from '@flotilla/client';
import { say } from '../console/output.js';
import { printable } from '../console/printable.js';
import type { Document } from './document.js';
import { readApplied, readLive } from './hub-state.js';
import type { Kind } from './kind.js';
import { isChange, planOf, type PlannedChange } from './plan.js';

/** In the order of kinds, then names. Things without a change are left out; notes are printed. */
export async function planAll(
  document: Document,
  kinds: readonly Kind[],
  client: FlotillaClient,
): Promise<readonly PlannedChange[]> {
  const [live, applied] = [await readLive(kinds, client), await readApplied(client)];
  return kinds.flatMap((kind) => {
    const [wanted, had, has] = [document.get(kind.kind), applied.get(kind.kind), live.get(kind.kind)];
    const names = [...new Set([...(wanted?.keys() ?? []), ...(had?.keys() ?? [])])].sort().sort(kind.order);
    const changes = names
      .map((name) => ({ kind, name, wanted: wanted?.get(name), applied: had?.get(name), live: has?.get(name) }))
      .map((sides) => planOf(sides, process.env));
    for (const { name, note } of changes)
      if (note !== undefined) say(`${kind.kind} "${printable(name)}": nothing to do, because ${note}`);
    return changes.filter(isChange);
  });
}
