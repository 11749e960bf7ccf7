/** `flotilla keys`: create, list, revoke. */
import { expectAccepted, scopes } from '@flotilla/client';
import { withClient } from '../../connection.js';
import { printChange } from '../../console/output.js';
import { deviceFilter, deviceFilterOptions, selectsDevices } from '../../options/device-filter.js';
import {
  ApiKeysDocument,
  CreateApiKeyDocument,
  RevokeApiKeyDocument,
  type KeyRowFragment,
} from '../../generated/operations.js';
import { durationMax, durationOption } from '../../options/duration-option.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';
import { withId } from '../../options/shared-options.js';

const createCommand = leaf({
  usage: 'create <name>',
  summary: 'Create a key, and print its secret once',
  examples: ['keys create "Lobby screens" --scope DEVICES_READ --scope TOOLS_CALL --tag lobby --expires-in 365d'],
  notes: 'With --tag, --model and similar options, the key can access only matching devices.',
  options: (args) =>
    args
      .positional('name', { type: 'string', demandOption: true, describe: 'Name of the key in the audit trail' })
      .option('scope', {
        choices: scopes,
        array: true,
        nargs: 1,
        demandOption: true,
        describe: 'Scope of the key; repeatable',
      })
      .option('expires-in', durationOption('expires-in', 'How long the key is valid', { plain: 'd', max: durationMax }))
      .options(deviceFilterOptions),
  run: (args) => {
    const isLimited = selectsDevices(args, 'for a key that can access the whole fleet');
    return withClient(args, async (client) => {
      const input = {
        name: args.name,
        scopes: args.scope,
        ...(isLimited ? { devices: deviceFilter(args) } : {}),
        ...(args.expiresIn === undefined
          ? {}
          : { expiresAt: new Date(Date.now() + args.expiresIn * 1_000).toISOString() }),
      };
      const { apiKey, secret } = expectAccepted((await client.request(CreateApiKeyDocument, { input })).createApiKey);
      await printChange({ ...apiKey, secret }, args);
    });
  },
});

const revokeCommand = hubLeaf({
  usage: 'revoke <id>',
  summary: 'Revoke a key and close its connections',
  examples: ['keys revoke 01990000-0000-7000-8000-000000000005 --yes'],
  options: (args) => withId(args, 'Id of the key'),
  question: (args) => `Programs with the key ${args.id} will lose access.`,
  run: async (args, client) => {
    const { revokeApiKey } = await client.request(RevokeApiKeyDocument, { id: args.id });
    await printChange({ ...expectAccepted(revokeApiKey).apiKey }, args);
  },
});

function stateOf({ revokedAt, expiresAt }: KeyRowFragment): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';
}

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List keys, also revoked and expired ones',
  examples: ['keys', 'keys list --columns id,name,lastUsedAt'],
  options: (args) => withListOptions(args, 0),
  run: (args, client) =>
    printList(
      () => rowsOf(client.request(ApiKeysDocument).then(({ apiKeys }) => apiKeys)),
      [
        'id',
        'name',
        { key: 'state', of: stateOf },
        { key: 'prefix', head: 'BEGINS' },
        'scopes',
        'devices',
        { key: 'lastUsedAt', head: 'LAST USED' },
        { key: 'expiresAt', head: 'EXPIRES' },
      ],
      args,
    ),
});

export const keysCommand = group('keys', 'Create, list and revoke API keys', [
  listCommand,
  createCommand,
  revokeCommand,
]);
