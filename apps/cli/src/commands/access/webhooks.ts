/** `flotilla webhooks`: addresses that receive events. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import { printChange, say } from '../../console/output.js';
import { exitCodes } from '../../exit-codes.js';
import { found } from '../../found.js';
import {
  CreateWebhookDocument,
  DeleteWebhookDocument,
  RedeliverWebhookDocument,
  TestWebhookDocument,
  UpdateWebhookDocument,
  WebhookDeliveriesDocument,
  WebhooksDocument,
} from '../../generated/operations.js';
import { group, hubLeaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';
import { given, listOption, textOption, withId } from '../../options/shared-options.js';

const aWebhook = '01990000-0000-7000-8000-000000000007';
const typeOption = listOption('Event type, such as job.finished or device.*');

const webhooks = async (client: FlotillaClient) => (await client.request(WebhooksDocument)).webhooks;

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List webhooks',
  examples: ['webhooks'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => rowsOf(webhooks(client)),
      ['id', 'url', 'types', 'enabled', 'pendingEvents', { key: 'failingSince' }, 'pausedAt', 'createdAt'],
      args,
    ),
});

const createCommand = hubLeaf({
  usage: 'create <address>',
  summary: 'Create a webhook, and print the secret of its signatures once',
  examples: ['webhooks create https://example.com/hook --type "job.*" --type device.disconnected'],
  options: (args) =>
    args
      .positional('address', { type: 'string', demandOption: true, describe: 'http or https address' })
      .option('type', { ...typeOption, demandOption: true }),
  run: async (args, client) => {
    const input = { url: args.address, types: args.type };
    const { webhook, secret } = expectAccepted((await client.request(CreateWebhookDocument, { input })).createWebhook);
    await printChange({ ...webhook, secret }, args);
  },
});

const editCommand = hubLeaf({
  usage: 'edit <id>',
  summary: 'Change a webhook, or enable it again after failures',
  examples: [`webhooks edit ${aWebhook} --type "job.*"`, `webhooks edit ${aWebhook} --no-enabled`],
  notes: 'It fails if another person changed it in the meantime.',
  options: (args) =>
    withId(args, 'Id of the webhook')
      .option('address', textOption('New address'))
      .option('type', typeOption)
      .option('enabled', { type: 'boolean', describe: 'Deliver events; --no-enabled: stop' }),
  run: async (args, client) => {
    const { id, address: url, type: types } = args;
    const now = found(
      (await webhooks(client)).find((webhook) => webhook.id === id),
      'Webhook',
      id,
    );
    // Only the hub pauses after failures; what a person stopped stays so.
    const enabled = args.enabled ?? (now.enabled || now.pausedAt !== null);
    const input = { url: now.url, types: now.types, enabled, ...given({ url, types }) };
    const variables = { id, input, revision: now.revision };
    const { updateWebhook } = await client.request(UpdateWebhookDocument, variables);
    await printChange({ ...expectAccepted(updateWebhook).webhook }, args);
  },
});

const deleteCommand = hubLeaf({
  usage: 'delete <id>',
  summary: 'Delete a webhook with its deliveries',
  examples: [`webhooks delete ${aWebhook} --yes`],
  options: (args) => withId(args, 'Id of the webhook'),
  question: (args) => `The webhook ${args.id} will receive no more events.`,
  run: async (args, client) => {
    const { deleteWebhook } = await client.request(DeleteWebhookDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(deleteWebhook).webhookId }, args);
  },
});

const deliveriesCommand = hubLeaf({
  usage: 'deliveries <id>',
  summary: 'List the latest deliveries of a webhook',
  examples: [`webhooks deliveries ${aWebhook}`],
  options: (args) => withListOptions(withId(args, 'Id of the webhook'), 20),
  run: async (args, client) => {
    let isCut = false;
    const read = async () => {
      const first = Math.min(args.limit === 0 ? deliveriesMax : args.limit + 1, deliveriesMax);
      const answer = await client.request(WebhookDeliveriesDocument, { first });
      const { deliveries } = found(
        answer.webhooks.find(({ id }) => id === args.id),
        'Webhook',
        args.id,
      );
      isCut = deliveries.length === deliveriesMax && (args.limit === 0 || args.limit >= deliveriesMax);
      return deliveries;
    };
    const columns = ['id', 'at', 'delivered', 'attempt', 'status', 'error', 'eventType', 'eventId'] as const;
    const code = await printList(() => rowsOf(read()), columns, args);
    if (isCut && args.watch !== true) say(`Only the latest ${deliveriesMax} deliveries are listed. There may be more.`);
    return code;
  },
});

/** Deliveries that one request reads of each webhook. */
const deliveriesMax = 100;

const redeliverCommand = hubLeaf({
  usage: 'redeliver <delivery>',
  summary: 'Send the event of a delivery again',
  examples: ['webhooks redeliver 01990000-0000-7000-8000-000000000008'],
  options: (args) =>
    args.positional('delivery', { type: 'string', demandOption: true, describe: 'Id of the delivery' }),
  run: async (args, client) => {
    const { redeliverWebhook } = await client.request(RedeliverWebhookDocument, { deliveryId: args.delivery });
    await printChange({ ...expectAccepted(redeliverWebhook).webhook }, args);
  },
});

const testCommand = hubLeaf({
  usage: 'test <id>',
  summary: 'Send a test event, and show how it ended',
  examples: [`webhooks test ${aWebhook}`],
  options: (args) => withId(args, 'Id of the webhook'),
  run: async (args, client) => {
    const { testWebhook } = await client.request(TestWebhookDocument, { id: args.id });
    const { delivered, error, status } = expectAccepted(testWebhook);
    await printChange({ delivered, status, error }, args);
    return delivered ? exitCodes.done : exitCodes.refused;
  },
});

export const webhooksCommand = group('webhooks', 'List, create and change webhooks', [
  listCommand,
  createCommand,
  editCommand,
  deleteCommand,
  deliveriesCommand,
  redeliverCommand,
  testCommand,
]);
