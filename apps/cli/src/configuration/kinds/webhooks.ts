/** Webhooks, by address. */
import { expectAccepted } from '@flotilla/client';
import type { WebhookInput } from '@flotilla/client/schema';
import {
  ConfiguredWebhooksDocument,
  CreateWebhookDocument,
  DeleteWebhookDocument,
  UpdateWebhookDocument,
} from '../../generated/operations.js';
import type { Kind } from '../kind.js';

export const webhooks: Kind = {
  kind: 'Webhook',
  nameIs: 'address that receives the events',
  fields: {
    types: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'Types of events, such as job.*' },
    enabled: { type: 'boolean' },
  },
  required: ['types'],
  defaults: { enabled: true },
  sets: ['types'],
  hasSecret: true,
  async read({ client }) {
    const { webhooks: all } = await client.request(ConfiguredWebhooksDocument);
    // The hub lists the oldest first. Of several with one address the newest counts.
    return [...all].reverse().map(({ id, url, revision, types, enabled }) => ({
      id,
      name: url,
      revision,
      fields: { types, enabled },
    }));
  },
  async create(url, fields, { client }) {
    const input = { ...fields, url } as unknown as WebhookInput;
    return expectAccepted((await client.request(CreateWebhookDocument, { input })).createWebhook).secret ?? undefined;
  },
  async update({ id, name: url, revision }, fields, { client }) {
    const variables = { id, input: { ...fields, url } as unknown as WebhookInput, revision: String(revision) };
    expectAccepted((await client.request(UpdateWebhookDocument, variables)).updateWebhook);
  },
  async remove({ id }, { client }) {
    expectAccepted((await client.request(DeleteWebhookDocument, { id })).deleteWebhook);
  },
};
