import type { FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { PublishConfiguredImageDocument } from '../../generated/operations.js';
import type { KindContext } from '../kind.js';
import { firmwareImages } from './firmware-images.js';

const references = { groups: new Map(), images: new Map(), channels: new Map() };
const sha256 = 'ab'.repeat(32);
const refusal = { code: 'CONFLICT', message: 'Another image has this board.', path: ['models', '0'] };

/** A hub with these images that refuses each publication, and the changes that it gets. */
function hubOf(images: readonly { readonly id: string; readonly withdrawnAt: string | null }[]) {
  const changes: unknown[] = [];
  const nodes = images.map((image) => ({ ...image, sha256, models: [], publishedAt: '2026-11-01T00:00:00Z' }));
  const request = async (document: unknown, variables?: Readonly<Record<string, unknown>>) => {
    if (variables?.['id'] !== undefined) changes.push({ document, variables });
    const payload = { userErrors: [refusal] };
    const page = { nodes, pageInfo: { hasNextPage: false, endCursor: null } };
    return { firmwareImages: page, publishFirmwareImage: payload, withdrawFirmwareImage: { userErrors: [] } };
  };
  const context: KindContext = { client: { request } as unknown as FlotillaClient, references, folder: '.' };
  return { context, changes };
}

const published = (id: string, ...models: string[]) => ({
  document: PublishConfiguredImageDocument,
  variables: { id, models, notes: null },
});

describe('an apply of a firmware image', () => {
  it.each([
    ['no-such-image.bin', /^no-such-image\.bin cannot be read: ENOENT/],
    ['firmware-images.spec.ts', /^firmware-images\.spec\.ts has the SHA-256 [0-9a-f]{64}, not abab/],
  ])('uploads nothing where the file is another: %s', async (file, message) => {
    const { context } = hubOf([]);
    const uploads: unknown[] = [];
    const client = { ...context.client, uploadFirmware: async (image: unknown) => uploads.push(image) };
    const here = { ...context, client: client as unknown as FlotillaClient, folder: import.meta.dirname };
    await expect(firmwareImages.create(sha256, { models: ['lamp'], file }, here)).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(message),
    });
    expect(uploads).toEqual([]);
    // Before the apply changes anything, too.
    await expect(firmwareImages.requireInputs?.(sha256, { models: ['lamp'], file }, here)).rejects.toThrow(message);
  });

  it('needs no file of an image that the hub has', async () => {
    const { context } = hubOf([{ id: 'old', withdrawnAt: '2026-11-02T00:00:00Z' }]);
    await expect(firmwareImages.requireInputs?.(sha256, { models: ['lamp'] }, context)).resolves.toBeUndefined();
    await expect(firmwareImages.requireInputs?.('cd', { models: ['lamp'] }, context)).rejects.toThrow(/no image with/);
  });

  it('changes nothing where the hub refuses the boards that remain', async () => {
    const { context, changes } = hubOf([]);
    const live = { id: 'one', name: sha256, fields: { models: ['lamp', 'clock'] } };
    await expect(firmwareImages.update?.(live, { models: ['clock'] }, context)).rejects.toThrow(refusal.message);
    expect(changes).toEqual([published('one', 'clock')]);
  });

  it('publishes an image again that was withdrawn, without its file', async () => {
    const { context, changes } = hubOf([{ id: 'old', withdrawnAt: '2026-11-02T00:00:00Z' }]);
    await expect(firmwareImages.create(sha256, { models: ['lamp'] }, context)).rejects.toThrow(refusal.message);
    expect(changes).toEqual([published('old', 'lamp')]);
  });

  it('prefers an image that was not withdrawn', async () => {
    const { context, changes } = hubOf([
      { id: 'newer', withdrawnAt: '2026-11-02T00:00:00Z' },
      { id: 'older', withdrawnAt: null },
    ]);
    await expect(firmwareImages.create(sha256, { models: ['lamp'] }, context)).rejects.toThrow(refusal.message);
    expect(changes).toEqual([published('older', 'lamp')]);
  });
});
