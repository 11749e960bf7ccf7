/** `flotilla keys`: create, list, revoke. */
import type { Argv } from 'yargs';
import { expectAccepted, scopes } from '@flotilla/client';
import { withClient } from '../connection.js';
import { printRows, printThing } from '../console/output.js';
import { deviceFilter, deviceFilterOptions } from '../device-filter.js';
import { ApiKeysDocument, CreateApiKeyDocument, RevokeApiKeyDocument } from '../generated/operations.js';
import { command, type GlobalArguments } from './command.js';
import { daysMax, numberOption } from '../number-option.js';

export function keysCommand(program: Argv<GlobalArguments>) {
  return program.command('keys', 'Create, list and revoke API keys', (keys) => listKeys(revoke(create(keys))));
}

function create(keys: Argv<GlobalArguments>) {
  return keys.command(
    'create <name>',
    'Create a key, and print its secret once',
    (args) =>
      args
        .positional('name', { type: 'string', demandOption: true, describe: 'Name of the key in the audit trail' })
        .option('scope', {
          choices: scopes,
          array: true,
          nargs: 1,
          demandOption: true,
          describe: 'Scope of the key; repeatable',
        })
        .option(
          'expires-in',
          numberOption('expires-in', 'Days until the key expires', { min: 0, max: daysMax, isFraction: true }),
        )
        .options(deviceFilterOptions)
        .epilogue('With --tag, --model and similar options, the key can access only matching devices.'),
    command((args) =>
      withClient(args, async (client) => {
        const devices = deviceFilter(args);
        const input = {
          name: args.name,
          scopes: args.scope,
          ...(Object.keys(devices).length === 0 ? {} : { devices }),
          ...(args.expiresIn === undefined
            ? {}
            : { expiresAt: new Date(Date.now() + args.expiresIn * 86_400_000).toISOString() }),
        };
        const { apiKey, secret } = expectAccepted((await client.request(CreateApiKeyDocument, { input })).createApiKey);
        await printThing({ ...apiKey, secret }, args);
      }),
    ),
  );
}

function revoke(keys: Argv<GlobalArguments>) {
  return keys.command(
    'revoke <id>',
    'Revoke a key and close its connections',
    (args) => args.positional('id', { type: 'string', demandOption: true }),
    command((args) =>
      withClient(args, async (client) => {
        await printThing(
          { ...expectAccepted((await client.request(RevokeApiKeyDocument, { id: args.id })).revokeApiKey).apiKey },
          args,
        );
      }),
    ),
  );
}

function listKeys(keys: Argv<GlobalArguments>) {
  return keys.command(
    ['list', '$0'],
    'List keys',
    (args) => args,
    command((args) =>
      withClient(args, async (client) => {
        const { apiKeys } = await client.request(ApiKeysDocument);
        await printRows(
          apiKeys,
          [
            { head: 'ID', of: ({ id }) => id },
            { head: 'NAME', of: ({ name }) => name },
            { head: 'BEGINS', of: ({ prefix }) => prefix },
            { head: 'SCOPES', of: ({ scopes: given }) => given },
            { head: 'DEVICES', of: ({ devices }) => devices },
            { head: 'LAST USED', of: ({ lastUsedAt }) => lastUsedAt },
            { head: 'EXPIRES', of: ({ expiresAt }) => expiresAt },
          ],
          args,
        );
      }),
    ),
  );
}
