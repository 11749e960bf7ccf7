import type { DeviceId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewUpload, Registry } from '../index.js';
import { openRegistry } from '../index.js';
import { openTestDatabase } from '../test-database.js';
import type { TestDatabase } from '../test-database.js';

let database: TestDatabase;
let registry: Registry;

beforeAll(async () => {
  database = await openTestDatabase();
  registry = await openRegistry({ databaseUrl: database.databaseUrl });
});

afterAll(async () => {
  await registry.close();
  await database.close();
});

const NOW = 1_790_000_000_000;

function photo(at: number, change: Partial<NewUpload> = {}): NewUpload {
  const id = v7({ msecs: at });
  const about = {
    kind: 'PHOTO',
    contentType: 'image/jpeg',
    sizeBytes: 3,
    sha256: 'aa',
    question: 'what is it?',
  } as const;
  return { id, deviceId: 'camera' as DeviceId, ...about, storageKey: `uploads/${id}`, ...change };
}

describe('uploads', () => {
  it('are found as they were added, with their time, and learn of thumbnail and answer later', async () => {
    const upload = photo(NOW);
    const added = { ...upload, at: NOW, thumbnailKey: undefined, answer: undefined };
    expect(await registry.uploads.add(upload)).toEqual(added);
    await registry.uploads.setThumbnail(upload.id, 'uploads/thumb');
    await registry.uploads.setAnswer(upload.id, 'a \u0000mug');
    expect(await registry.uploads.find(upload.id)).toEqual({
      ...added,
      thumbnailKey: 'uploads/thumb',
      answer: 'a \uFFFDmug',
    });
    expect(await registry.uploads.find('no-uuid')).toBeUndefined();
    expect(await registry.uploads.find(v7())).toBeUndefined();
  });

  it('use a ticket up', async () => {
    const ticketId = v7();
    const first = photo(NOW, { ticketId });
    expect(await registry.uploads.add(first)).toBeDefined();
    expect(await registry.uploads.add(photo(NOW, { ticketId }))).toBeUndefined();
    expect((await registry.uploads.findByTicket(ticketId))?.id).toBe(first.id);
  });

  it('are listed latest first, by device, in pages', async () => {
    const deviceId = 'lister' as DeviceId;
    const rows = [photo(NOW + 1, { deviceId }), photo(NOW + 2, { deviceId }), photo(NOW + 3, { deviceId })];
    for (const row of rows) await registry.uploads.add(row);
    const first = await registry.uploads.page({ deviceId }, { first: 2 });
    expect(first.rows.map(({ id }) => id)).toEqual([rows[2]?.id, rows[1]?.id]);
    expect(first.hasNextPage).toBe(true);
    const second = await registry.uploads.page({ deviceId }, { first: 2, after: first.cursors[1] ?? '' });
    expect(second).toMatchObject({ rows: [{ id: rows[0]?.id }], hasNextPage: false });
    expect((await registry.uploads.page({}, { first: 1 })).rows[0]?.id).toBe(rows[2]?.id);
  });

  it('are listed by age, and gone when removed', async () => {
    const old = photo(NOW - 86_400_000, { deviceId: undefined, kind: 'IMAGE', question: undefined });
    await registry.uploads.add(old);
    expect((await registry.uploads.olderThan(NOW - 1, 10)).map(({ id }) => id)).toEqual([old.id]);
    expect(await registry.uploads.known([old.id, v7(), 'x'])).toEqual(new Set([old.id]));
    await registry.uploads.remove(old.id);
    await registry.uploads.setAnswer(old.id, 'too late');
    expect(await registry.uploads.olderThan(NOW - 1, 10)).toEqual([]);
  });
});
