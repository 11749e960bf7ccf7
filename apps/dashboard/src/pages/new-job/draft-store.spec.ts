import { describe, expect, it } from 'vitest';
import { draftsMax, type DraftStorage, dropDraft, newDraftId, readDraft, writeDraft } from './draft-store';
import { draftFrom } from './job-draft';
import { parseNewJobSearch } from './new-job-search';

function storageOf(bytesMax = Infinity): DraftStorage & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>();
  return {
    entries,
    get length() {
      return entries.size;
    },
    key: (index) => [...entries.keys()][index] ?? null,
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => {
      if (value.length > bytesMax) throw new DOMException('full', 'QuotaExceededError');
      entries.set(key, value);
    },
    removeItem: (key) => void entries.delete(key),
  };
}

describe('the drafts of jobs', () => {
  const mine = (id: string) => ({ id, viewer: 'ann' });
  const draft = { ...draftFrom({ tool: 'self.reboot' }), name: 'Quiet night' };

  it('are kept until the job is started', () => {
    const storage = storageOf();
    const id = newDraftId();
    expect(parseNewJobSearch({ draft: id })).toEqual({ draft: id });
    writeDraft(storage, mine(id), draft);
    expect(readDraft(storage, mine(id))).toMatchObject({ name: 'Quiet night', tool: 'self.reboot' });
    dropDraft(storage, id);
    expect(readDraft(storage, mine(id))).toBeUndefined();
  });

  it('make room for later ones, and leave other entries', () => {
    const storage = storageOf();
    storage.setItem('other', 'x');
    const ids = Array.from({ length: draftsMax + 2 }, newDraftId);
    for (const [at, id] of ids.entries()) writeDraft(storage, mine(id), draft, at);
    expect(ids.filter((id) => readDraft(storage, mine(id)) === undefined)).toEqual(ids.slice(0, 2));
    expect(storage.getItem('other')).toBe('x');
  });

  it('belong to one person', () => {
    const storage = storageOf();
    writeDraft(storage, mine('d1'), draft);
    expect(readDraft(storage, { id: 'd1', viewer: 'bob' })).toBeUndefined();
  });

  it('of another version, or broken, do not exist', () => {
    const storage = storageOf();
    writeDraft(storage, mine('d1'), draft);
    const [key = ''] = storage.entries.keys();
    for (const text of ['{', 'null', '7', '{"version":2,"draft":{}}', '{"version":1}']) {
      storage.entries.set(key, text);
      expect(readDraft(storage, mine('d1')), text).toBeUndefined();
    }
  });

  it('that find no room leave the page working', () => {
    const storage = storageOf(10);
    writeDraft(storage, mine('d1'), draft);
    expect(readDraft(storage, mine('d1'))).toBeUndefined();
  });
});
