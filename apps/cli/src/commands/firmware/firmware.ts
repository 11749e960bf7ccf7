/** `flotilla firmware`: the group, and the list of images. */
import type { ColumnLike } from '../../console/output-format.js';
import { FirmwareImagesDocument, type ImageRowFragment } from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { group, hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { deleteCommand, publishCommand, uploadCommand, withdrawCommand } from './images.js';
import { revertCommand, rollOutCommand } from './roll-out.js';
import { signCommand } from './sign.js';
import { signingKeysCommand } from './signing-keys.js';

const columns: readonly ColumnLike<ImageRowFragment>[] = [
  'id',
  'version',
  'project',
  'chip',
  { key: 'state', of: stateOf },
  { key: 'signedBy', of: ({ signedBy }) => signedBy?.name },
  'models',
  'uploadedAt',
];

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List images, latest first',
  examples: ['firmware', 'firmware list --output csv --columns id,version,state'],
  options: (args) => withListOptions(args, 50),
  run: (args, client) =>
    printList(
      () => eachNode(async (page) => (await client.request(FirmwareImagesDocument, page)).firmwareImages),
      columns,
      args,
    ),
});

function stateOf({ publishedAt, withdrawnAt }: ImageRowFragment): string {
  if (withdrawnAt !== null) return 'withdrawn';
  return publishedAt === null ? 'uploaded' : 'published';
}

export const firmwareCommand = group('firmware', 'Upload, publish and roll out firmware', [
  listCommand,
  uploadCommand,
  publishCommand,
  rollOutCommand,
  revertCommand,
  withdrawCommand,
  deleteCommand,
  signCommand,
  signingKeysCommand,
]);
