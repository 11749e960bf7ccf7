/** `flotilla grants`: the agents that people connected over OAuth. */
import { expectAccepted } from '@flotilla/client';
import { printChange } from '../../console/output.js';
import { AgentGrantsDocument, RevokeAgentGrantDocument } from '../../generated/operations.js';
import { group, hubLeaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';
import { withId } from '../../options/shared-options.js';

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List connected agents',
  examples: ['grants', 'grants list --columns clientName,userEmail,lastUsedAt'],
  notes: 'Administrators see all agents.',
  options: (args) => withListOptions(args, 0),
  run: (args, client) =>
    printList(
      () => rowsOf(client.request(AgentGrantsDocument).then(({ agentGrants }) => agentGrants)),
      [
        'id',
        { key: 'clientName', head: 'CLIENT' },
        { key: 'clientHost', head: 'HOST' },
        { key: 'userEmail', head: 'PERSON' },
        'scopes',
        'devices',
        { key: 'lastUsedAt', head: 'LAST USED' },
        { key: 'expiresAt', head: 'EXPIRES' },
      ],
      args,
    ),
});

const revokeCommand = hubLeaf({
  usage: 'revoke <id>',
  summary: 'Disconnect an agent and close its connections',
  examples: ['grants revoke 01990000-0000-7000-8000-000000000005 --yes'],
  options: (args) => withId(args, 'Id of the connected agent'),
  question: (args) => `The agent ${args.id} will lose access.`,
  run: async (args, client) => {
    const { revokeAgentGrant } = await client.request(RevokeAgentGrantDocument, { id: args.id });
    await printChange({ id: expectAccepted(revokeAgentGrant).revokedId }, args);
  },
});

export const grantsCommand = group('grants', 'List and revoke agents that people connected', [
  listCommand,
  revokeCommand,
]);
