/** `flotilla firmware keys`: the public keys whose signatures a hub accepts. */
import { readFile } from 'node:fs/promises';
import type { Argv } from 'yargs';
import { expectAccepted } from '@flotilla/client';
import { withClient } from '../connection.js';
import { printRows, printThing } from '../console/output.js';
import { UsageError } from '../exit-codes.js';
import { AddSigningKeyDocument, RemoveSigningKeyDocument, SigningKeysDocument } from '../generated/operations.js';
import { command, type GlobalArguments } from './command.js';

export function signingKeysCommand<Args extends GlobalArguments>(firmware: Argv<Args>) {
  return firmware.command('keys', 'List, add and remove the keys that sign firmware', (keys) =>
    keys
      .command(
        'add <name> <file>',
        'Add a public key',
        (args) =>
          args
            .positional('name', { type: 'string', demandOption: true, describe: 'Name of the key' })
            .positional('file', {
              type: 'string',
              demandOption: true,
              describe: 'File with the public Ed25519 key in PEM or base64',
            }),
        command(async (args) => {
          const input = { name: args.name, publicKey: await publicKeyIn(args.file) };
          await withClient(args, async (client) => {
            const { addFirmwareSigningKey } = await client.request(AddSigningKeyDocument, { input });
            await printThing({ ...expectAccepted(addFirmwareSigningKey).firmwareSigningKey }, args);
          });
        }),
      )
      .command(
        'remove <id>',
        'Remove a key; its images then count as unsigned',
        (args) => args.positional('id', { type: 'string', demandOption: true }),
        command((args) =>
          withClient(args, async (client) => {
            const { removeFirmwareSigningKey } = await client.request(RemoveSigningKeyDocument, { id: args.id });
            await printThing({ deletedId: expectAccepted(removeFirmwareSigningKey).deletedId }, args);
          }),
        ),
      )
      .command(
        ['list', '$0'],
        'List keys',
        (args) => args,
        command((args) =>
          withClient(args, async (client) => {
            const { firmwareSigningKeys } = await client.request(SigningKeysDocument);
            const columns = [
              { head: 'ID', of: ({ id }: { readonly id: string }) => id },
              { head: 'NAME', of: ({ name }: { readonly name: string }) => name },
              { head: 'FINGERPRINT', of: ({ fingerprint }: { readonly fingerprint: string }) => fingerprint },
              { head: 'ADDED', of: ({ createdAt }: { readonly createdAt: string }) => createdAt },
            ];
            await printRows(firmwareSigningKeys, columns, args);
          }),
        ),
      ),
  );
}

async function publicKeyIn(file: string): Promise<string> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}. Check its name.`,
    );
  });
  if (content.includes('PRIVATE KEY'))
    throw new UsageError(
      `${file} has a private key, which is never uploaded. Use the .pub file ` +
        'that `flotilla firmware sign --new-key` wrote.',
    );
  return content;
}
