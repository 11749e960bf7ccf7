/**
 * Keeps drafts of jobs in this browser tab, so that a reload and the way back lose nothing. Old
 * drafts make room for new ones.
 */
import type { JobDraft } from './job-draft';

export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

const prefix = 'flotilla.job-draft.';
/** Drafts of one tab. A draft has at most 40 KB, from 1,000 ids of devices. */
export const draftsMax = 20;
/** What is stored by another version of the console has no meaning. */
const version = 1;

interface Stored {
  readonly version: number;
  /** Whose draft it is: another person may sign in here. */
  readonly viewer: string;
  /** Ms since the Unix epoch. */
  readonly at: number;
  readonly draft: JobDraft;
}

/** A letter comes first, because an address reads digits as a number. */
export function newDraftId(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(7))];
  return `d${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Names a draft and its person. */
interface DraftKey {
  readonly id: string;
  readonly viewer: string;
}

export function readDraft(storage: DraftStorage, { id, viewer }: DraftKey): JobDraft | undefined {
  const stored = read(storage, prefix + id);
  return stored?.viewer === viewer ? stored.draft : undefined;
}

/** A full storage keeps the former draft: then only a reload loses the latest changes. */
export function writeDraft(storage: DraftStorage, key: DraftKey, draft: JobDraft, at = Date.now()): void {
  const { id, viewer } = key;
  try {
    storage.setItem(prefix + id, JSON.stringify({ version, viewer, at, draft } satisfies Stored));
  } catch {
    return;
  }
  for (const old of draftKeys(storage).slice(draftsMax)) storage.removeItem(old);
}

export function dropDraft(storage: DraftStorage, id: string): void {
  storage.removeItem(prefix + id);
}

/** The latest first. */
function draftKeys(storage: DraftStorage): readonly string[] {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
  return keys
    .filter((key) => key.startsWith(prefix))
    .map((key) => ({ key, at: read(storage, key)?.at ?? 0 }))
    .sort((one, other) => other.at - one.at)
    .map(({ key }) => key);
}

function read(storage: DraftStorage, key: string): Stored | undefined {
  try {
    const stored = JSON.parse(storage.getItem(key) ?? 'null') as Partial<Stored> | null;
    return stored?.version === version && typeof stored.draft === 'object' ? (stored as Stored) : undefined;
  } catch {
    return undefined;
  }
}
