/** Enrolment links, by name. The hub shows an address once, so a change makes a new link. */
import { expectAccepted } from '@flotilla/client';
import type { EnrolmentLinkInput } from '@flotilla/client/schema';
import {
  CreateEnrolmentLinkDocument,
  EnrolmentLinksDocument,
  RevokeEnrolmentLinkDocument,
} from '../../generated/operations.js';
import { isOver, withoutNull, type Kind } from '../kind.js';

export const enrolmentLinks: Kind = {
  kind: 'EnrolmentLink',
  nameIs: 'name of the link',
  fields: {
    tags: { type: 'array', items: { type: 'string' }, description: 'Tags of devices that enrol with the link.' },
    maxDevices: { type: 'integer', minimum: 1 },
    expiresAt: { type: 'string', description: 'A time, such as 2027-06-30T00:00:00Z.' },
  },
  required: ['maxDevices', 'expiresAt'],
  defaults: { tags: [] },
  sets: ['tags'],
  endsAt: 'expiresAt',
  hasSecret: true,
  async read({ client }) {
    const { enrolmentLinks: links } = await client.request(EnrolmentLinksDocument);
    return links
      .filter(({ revokedAt, expiresAt }) => revokedAt === null && !isOver(expiresAt))
      .map(({ id, name, tags, maxDevices, expiresAt }) => ({
        id,
        name,
        fields: withoutNull({ tags, maxDevices, expiresAt }),
      }));
  },
  async create(name, fields, { client }) {
    const input = { ...fields, name } as unknown as EnrolmentLinkInput;
    const { createEnrolmentLink } = await client.request(CreateEnrolmentLinkDocument, { input });
    return expectAccepted(createEnrolmentLink).url ?? undefined;
  },
  async remove({ id }, { client }) {
    expectAccepted((await client.request(RevokeEnrolmentLinkDocument, { id })).revokeEnrolmentLink);
  },
};
