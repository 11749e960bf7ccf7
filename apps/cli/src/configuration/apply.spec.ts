import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FlotillaClient } from '@flotilla/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { applyAll } from './apply.js';
import type { Fields, Kind, Live } from './kind.js';
import { planOf } from './plan.js';

const page = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
const empty = { deviceGroups: page, firmwareImages: page, notificationChannels: [] };
const client = {
  request: async () => ({ ...empty, recordAppliedConfiguration: { userErrors: [] } }),
} as unknown as FlotillaClient;

/** Applies a plan for `planned` to a hub that has `now`, and returns what it changed. */
async function applied(
  planned: Live | undefined,
  now: readonly Live[],
  wanted: Fields | undefined,
  changes: unknown[] = [],
): Promise<readonly unknown[]> {
  const kind: Kind = {
    kind: 'Thing',
    nameIs: 'name',
    fields: { a: {}, enabled: {}, tags: {} },
    required: [],
    sets: ['tags'],
    read: async () => now,
    create: async () => void changes.push('create'),
    update: async ({ revision }, fields) => void changes.push({ revision, fields }),
    remove: async ({ id }) => void changes.push(`remove ${id}`),
  };
  const change = planOf({ kind, name: 'x', wanted, applied: { fields: { a: 1 }, revision: 1 }, live: planned });
  await applyAll([change], { client, folder: '.', secretsFile: undefined, onDone: () => undefined });
  return changes;
}

const planned: Live = { id: '1', name: 'x', revision: 'read', fields: { a: 1, enabled: true, tags: ['s', 't'] } };

afterEach(() => vi.unstubAllEnvs());

/** A change that creates a key with a secret, and the names of what it created. */
function newKey(onCreated: () => Promise<void> = async () => undefined) {
  const created: string[] = [];
  const kind: Kind = {
    kind: 'Key',
    nameIs: 'name',
    fields: { a: {} },
    required: [],
    hasSecret: true,
    read: async () => [],
    create: async (name) => {
      created.push(name);
      await onCreated();
      return `secret ${created.length}`;
    },
    remove: async () => undefined,
  };
  return { change: planOf({ kind, name: 'x', wanted: { a: 1 }, applied: undefined, live: undefined }), created };
}

describe('an apply', () => {
  it('writes the fields of the file, and deletes what it does not have any more', async () => {
    const again = { ...planned, fields: { ...planned.fields, tags: ['t', 's'] } };
    expect(await applied(planned, [again], { a: 2 })).toEqual([
      { revision: 'read', fields: { ...planned.fields, a: 2 } },
    ]);
    expect(await applied(planned, [again], undefined)).toEqual(['remove 1']);
  });

  it.each<[string, readonly Live[]]>([
    ['another person changed', [{ ...planned, fields: { ...planned.fields, enabled: false } }]],
    ['got a field', [{ ...planned, fields: { ...planned.fields, b: 1 } }]],
    ['got another name', [{ ...planned, name: 'y' }]],
    ['another person deleted', [{ ...planned, id: '2' }]],
    ['came with the hub and was changed', [{ ...planned, isPristine: false, fields: { a: 3 } }]],
  ])('neither writes, adopts nor deletes a thing that %s after the plan', async (_, now) => {
    const shipped = { ...planned, isPristine: true };
    for (const wanted of [{ a: 2 }, { a: 1, enabled: true }, undefined])
      for (const live of [planned, shipped])
        await expect(applied(live, now, wanted)).rejects.toMatchObject({
          code: 'CONFLICT',
          message: expect.stringContaining('Thing "x": It was changed after the plan.'),
        });
  });

  it('creates what is missing, and nothing that another person created after the plan', async () => {
    expect(await applied(undefined, [{ ...planned, name: 'y' }], { a: 2 })).toEqual(['create']);
    const created: unknown[] = [];
    await expect(applied(undefined, [{ ...planned, id: '2' }], { a: 2 }, created)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('Thing "x": It was created after the plan.'),
    });
    expect(created).toEqual([]);
  });

  it('leaves enabled what came with the hub and its first channel enabled', async () => {
    const shipped = { ...planned, isPristine: true, fields: { a: 1, enabled: false, channels: [] } };
    const now = { ...shipped, revision: 'enabled', fields: { a: 1, enabled: true, channels: ['Operations'] } };
    expect(await applied(shipped, [now], { a: 2 })).toEqual([
      { revision: 'enabled', fields: { a: 2, enabled: true, channels: ['Operations'] } },
    ]);
  });

  it.each([undefined, ''])('changes nothing where a secret of the file is %j in the environment', async (secret) => {
    vi.stubEnv('FLOTILLA_SPEC_SECRET', secret);
    const changes: unknown[] = [];
    const wanted = { a: { fromEnv: 'FLOTILLA_SPEC_SECRET' } };
    await expect(applied(undefined, [], wanted, changes)).rejects.toThrow('Missing or empty: FLOTILLA_SPEC_SECRET.');
    expect(changes).toEqual([]);
  });

  it('changes nothing where an input of a later change is missing', async () => {
    const { change, created } = newKey();
    const requireInputs = () => Promise.reject(new Error('The file is missing.'));
    const later = { ...change, kind: { ...change.kind, hasSecret: false, requireInputs } };
    const first = { ...change, kind: { ...change.kind, hasSecret: false } };
    const options = { client, folder: '.', secretsFile: undefined, onDone: () => undefined };
    await expect(applyAll([first, later], options)).rejects.toThrow('The file is missing.');
    expect(created).toEqual([]);
  });

  it('creates nothing that has a secret where the file for secrets cannot be written', async () => {
    const { change, created } = newKey();
    const folder = await mkdtemp(path.join(tmpdir(), 'flotilla-apply-'));
    const apply = (secretsFile: string) => applyAll([change], { client, folder, secretsFile, onDone: () => undefined });
    try {
      await expect(apply(folder)).rejects.toThrow(/the file for new secrets, cannot be written: EISDIR/);
      expect(created).toEqual([]);
      const file = path.join(folder, 'secrets.jsonl');
      // It is there already, and others can read it.
      await writeFile(file, '', { mode: 0o644 });
      await apply(file);
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ kind: 'Key', name: 'x', secret: 'secret 1' });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('says what to delete where the file for secrets cannot be written any more', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'flotilla-apply-'));
    const secretsFile = path.join(folder, 'secrets.jsonl');
    const { change } = newKey(async () => {
      await rm(secretsFile);
      await mkdir(secretsFile);
    });
    try {
      await expect(applyAll([change], { client, folder, secretsFile, onDone: () => undefined })).rejects.toThrow(
        /^Key "x" is new, and its secret is lost: .*secrets\.jsonl cannot be written: EISDIR.* Delete or revoke the new/,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
