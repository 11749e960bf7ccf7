import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FlotillaClient } from '@flotilla/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyAll } from '../apply.js';
import type { Fields, Kind } from '../kind.js';
import { planOf } from '../plan.js';
import { apiKeys } from './api-keys.js';
import { enrolmentLinks } from './enrolment-links.js';

const page = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
const later = '2999-01-01T00:00:00Z';
const key = {
  id: '1',
  name: 'x',
  createdBy: 'admin',
  revokedAt: null,
  scopes: ['DEVICES_READ'],
  devices: { tags: ['shop'] },
  expiresAt: later,
};
const link = { id: '1', name: 'x', revokedAt: null, tags: ['shop'], maxDevices: 1, expiresAt: later };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-keys-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Applies a file that has `wanted` and no field that `live` has besides; returns the new thing. */
async function replaced(kind: Kind, answer: Readonly<Record<string, unknown>>, wanted: Fields): Promise<unknown> {
  const sent: unknown[] = [];
  const accepted = { userErrors: [], secret: 'secret', url: 'https://hub.example' };
  const answers = {
    ...answer,
    deviceGroups: page,
    firmwareImages: page,
    notificationChannels: [],
    createApiKey: accepted,
    revokeApiKey: accepted,
    createEnrolmentLink: accepted,
    revokeEnrolmentLink: accepted,
    recordAppliedConfiguration: accepted,
  };
  const request = async (_document: unknown, variables?: Readonly<Record<string, unknown>>) => {
    const input = variables?.['input'];
    if (input !== undefined && !Array.isArray(input)) sent.push(input);
    return answers;
  };
  const client = { request } as unknown as FlotillaClient;
  const references = { groups: new Map(), images: new Map(), channels: new Map() };
  const [live] = await kind.read({ client, references });
  const change = planOf({ kind, name: 'x', wanted, applied: undefined, live });
  expect(change.action).toBe('replace');
  const secretsFile = path.join(folder, 'secrets.jsonl');
  await applyAll([change], { client, folder, secretsFile, onDone: () => undefined });
  return sent;
}

describe('a key or link that a changed file replaces', () => {
  it('keeps the devices and the end that the file does not have', async () => {
    const scopes = ['DEVICES_READ', 'TOOLS_CALL'];
    expect(await replaced(apiKeys, { apiKeys: [key] }, { scopes })).toEqual([
      { name: 'x', scopes, devices: { tags: ['shop'] }, expiresAt: later },
    ]);
  });

  it('loses what the file clears', async () => {
    const wanted = { scopes: ['DEVICES_READ'], devices: null, expiresAt: null };
    expect(await replaced(apiKeys, { apiKeys: [key] }, wanted)).toEqual([{ name: 'x', ...wanted }]);
  });

  it('keeps the tags that the file does not have', async () => {
    const wanted = { maxDevices: 2, expiresAt: later };
    expect(await replaced(enrolmentLinks, { enrolmentLinks: [link] }, wanted)).toEqual([
      { name: 'x', tags: ['shop'], ...wanted },
    ]);
  });
});
