/**
 * API keys, by name: what they may do. The hub shows a secret once, so a changed definition makes a
 * new key.
 */
import { expectAccepted, scopes } from '@flotilla/client';
import type { CreateApiKeyInput } from '@flotilla/client/schema';
import { ConfiguredKeysDocument, CreateApiKeyDocument, RevokeApiKeyDocument } from '../../generated/operations.js';
import { filterSchema, filterWithIds, filterWithNames } from '../filter-references.js';
import { isOver, withoutNull, type Kind } from '../kind.js';

export const apiKeys: Kind = {
  kind: 'ApiKey',
  nameIs: 'name of the key',
  fields: {
    scopes: { type: 'array', items: { enum: scopes }, minItems: 1 },
    devices: { ...filterSchema, type: ['object', 'null'] },
    expiresAt: { type: ['string', 'null'], description: 'A time, such as 2027-06-30T00:00:00Z.' },
  },
  required: ['scopes'],
  sets: ['scopes'],
  endsAt: 'expiresAt',
  hasSecret: true,
  requireNamed: ({ devices }, references) => void filterWithIds(devices, references),
  /** Without keys that do not work any more, and the first key, which the hub creates itself. */
  async read({ client, references }) {
    const { apiKeys: keys } = await client.request(ConfiguredKeysDocument);
    return keys
      .filter(({ createdBy, revokedAt, expiresAt }) => createdBy !== null && revokedAt === null && !isOver(expiresAt))
      .map(({ id, name, scopes: granted, devices, expiresAt }) => ({
        id,
        name,
        fields: withoutNull({ scopes: granted, devices: filterWithNames(devices, references), expiresAt }),
      }));
  },
  async create(name, { devices, ...fields }, { client, references }) {
    const input = {
      ...fields,
      name,
      ...(devices !== undefined && { devices: filterWithIds(devices, references) }),
    } as unknown as CreateApiKeyInput;
    return expectAccepted((await client.request(CreateApiKeyDocument, { input })).createApiKey).secret ?? undefined;
  },
  async remove({ id }, { client }) {
    expectAccepted((await client.request(RevokeApiKeyDocument, { id })).revokeApiKey);
  },
};
