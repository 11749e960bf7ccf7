/**
 * Removes blobs without a row. They remain if a process dies, or PostgreSQL fails, between bytes
 * and row.
 */
import type { BlobStore } from '@flotilla/storage';

/** A kind of blobs with a row each. */
export interface RowedBlobs {
  readonly prefix: string;
  readonly idOf: (key: string) => string;
  /** Which of these ids have a row. */
  readonly known: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** Keys per statement. */
const BATCH = 500;
/** Age from which a blob without a row is an orphan, ms; a younger one may still get its row. */
const ORPHAN_AFTER_MS = 3_600_000;

/** Resolves to how many were removed. Rejects where storage or PostgreSQL is away. */
export async function removeOrphans(
  blobs: Pick<BlobStore, 'list' | 'remove'>,
  rowed: RowedBlobs,
  now: number,
): Promise<number> {
  let removed = 0;
  let keys: string[] = [];
  for await (const { key, keptAt } of blobs.list(rowed.prefix)) {
    if (now - keptAt.getTime() < ORPHAN_AFTER_MS) continue;
    keys.push(key);
    if (keys.length < BATCH) continue;
    removed += await removeUnknown(blobs, rowed, keys);
    keys = [];
  }
  return removed + (await removeUnknown(blobs, rowed, keys));
}

async function removeUnknown(
  blobs: Pick<BlobStore, 'remove'>,
  { idOf, known }: RowedBlobs,
  keys: readonly string[],
): Promise<number> {
  if (keys.length === 0) return 0;
  const ids = await known([...new Set(keys.map(idOf))]);
  const orphans = keys.filter((key) => !ids.has(idOf(key)));
  for (const key of orphans) await blobs.remove(key);
  return orphans.length;
}
