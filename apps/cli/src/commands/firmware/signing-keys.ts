/** `flotilla firmware keys`: the public keys whose signatures a hub accepts. */
import { readFile } from 'node:fs/promises';
import { expectAccepted } from '@flotilla/client';
import { unreadable } from '../../error-message.js';
import { withClient } from '../../connection.js';
import { printChange } from '../../console/output.js';
import { UsageError } from '../../exit-codes.js';
import { AddSigningKeyDocument, RemoveSigningKeyDocument, SigningKeysDocument } from '../../generated/operations.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';
import { withId } from '../../options/shared-options.js';

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List keys',
  examples: ['firmware keys'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => rowsOf(client.request(SigningKeysDocument).then(({ firmwareSigningKeys }) => firmwareSigningKeys)),
      ['id', 'name', 'fingerprint', { key: 'createdAt', head: 'ADDED' }],
      args,
    ),
});

const addCommand = leaf({
  usage: 'add <name> <file>',
  summary: 'Add a public key',
  examples: ['firmware keys add "Build server" build.pem.pub'],
  options: (args) =>
    args.positional('name', { type: 'string', demandOption: true, describe: 'Name of the key' }).positional('file', {
      type: 'string',
      demandOption: true,
      describe: 'File with the public Ed25519 key in PEM or base64',
    }),
  run: async (args) => {
    const input = { name: args.name, publicKey: await publicKeyIn(args.file) };
    await withClient(args, async (client) => {
      const { addFirmwareSigningKey } = await client.request(AddSigningKeyDocument, { input });
      await printChange({ ...expectAccepted(addFirmwareSigningKey).firmwareSigningKey }, args);
    });
  },
});

const removeCommand = hubLeaf({
  usage: 'remove <id>',
  summary: 'Remove a key; its images then count as unsigned',
  examples: ['firmware keys remove 01990000-0000-7000-8000-000000000003 --yes'],
  options: (args) => withId(args, 'Id of the key'),
  question: (args) => `Images that the key ${args.id} signed will count as unsigned.`,
  run: async (args, client) => {
    const { removeFirmwareSigningKey } = await client.request(RemoveSigningKeyDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(removeFirmwareSigningKey).deletedId }, args);
  },
});

export const signingKeysCommand = group('keys', 'List, add and remove the keys that sign firmware', [
  listCommand,
  addCommand,
  removeCommand,
]);

async function publicKeyIn(file: string): Promise<string> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (content.includes('PRIVATE KEY'))
    throw new UsageError(
      `${file} has a private key, which is never uploaded. Use the .pub file ` +
        'that `flotilla firmware sign --new-key` wrote.',
    );
  return content;
}
