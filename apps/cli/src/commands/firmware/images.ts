/** `flotilla firmware upload`, `publish`, `withdraw` and `delete`. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { expectAccepted } from '@flotilla/client';
import { unreadable } from '../../error-message.js';
import { withClient } from '../../connection.js';
import { printChange } from '../../console/output.js';
import { UsageError } from '../../exit-codes.js';
import {
  DeleteFirmwareImageDocument,
  PublishFirmwareImageDocument,
  WithdrawFirmwareImageDocument,
} from '../../generated/operations.js';
import { hubLeaf, leaf } from '../command.js';
import { listOption, textOption, withId } from '../../options/shared-options.js';

const anImage = '01990000-0000-7000-8000-000000000002';

export const uploadCommand = leaf({
  usage: 'upload <file>',
  summary: 'Upload an image and print its id; devices receive it after you publish and roll it out',
  examples: ['firmware upload build/xiaozhi.bin --signature build/xiaozhi.bin.sig'],
  options: (args) =>
    args
      .positional('file', { type: 'string', demandOption: true })
      .option('kind', { choices: ['FIRMWARE', 'ASSETS'] as const, default: 'FIRMWARE' as const })
      .option('signature', textOption('File with the signature that `firmware sign` wrote'))
      .option('image-version', textOption('Version of an ASSETS image, which does not contain one')),
  run: async (args) => {
    const content = await imageIn(args.file);
    const signature = args.signature === undefined ? undefined : (await (await imageIn(args.signature)).text()).trim();
    await withClient(args, async (client) => {
      const { kind, imageVersion: version } = args;
      const proof = {
        ...(version === undefined ? {} : { version }),
        ...(signature === undefined ? {} : { signature }),
      };
      const file = { content, fileName: path.basename(args.file), kind, ...proof };
      await printChange({ id: await client.uploadFirmware(file) }, args);
    });
  },
});

async function imageIn(file: string): Promise<Blob> {
  try {
    if (!(await stat(file)).isFile()) throw new UsageError(`${file} is not a file. Name the file of an image.`);
    return await openAsBlob(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

export const publishCommand = hubLeaf({
  usage: 'publish <id>',
  values: ['image'],
  summary: 'Publish an image for the given boards',
  examples: [`firmware publish ${anImage} --model esp-box-3 --notes "Fixes the microphone"`],
  options: (args) =>
    withId(args, 'Id of the image')
      .option('model', { ...listOption('Board, as devices report it'), demandOption: true })
      .option('notes', textOption('Notes that the console shows with the image')),
  run: async (args, client) => {
    const variables = { id: args.id, models: args.model, notes: args.notes };
    const { publishFirmwareImage } = await client.request(PublishFirmwareImageDocument, variables);
    await printChange({ ...expectAccepted(publishFirmwareImage).firmwareImage }, args);
  },
});

export const withdrawCommand = hubLeaf({
  usage: 'withdraw <id>',
  values: ['image'],
  summary: 'Withdraw an image; no device receives it any more',
  examples: [`firmware withdraw ${anImage}`],
  options: (args) => withId(args, 'Id of the image'),
  run: async (args, client) => {
    const { withdrawFirmwareImage } = await client.request(WithdrawFirmwareImageDocument, { id: args.id });
    await printChange({ ...expectAccepted(withdrawFirmwareImage).firmwareImage }, args);
  },
});

export const deleteCommand = hubLeaf({
  usage: 'delete <id>',
  values: ['image'],
  summary: 'Delete an unpublished image that no job uses',
  examples: [`firmware delete ${anImage} --yes`],
  options: (args) => withId(args, 'Id of the image'),
  question: (args) => `The image ${args.id} and its file will be deleted.`,
  run: async (args, client) => {
    const { deleteFirmwareImage } = await client.request(DeleteFirmwareImageDocument, { id: args.id });
    await printChange({ ...expectAccepted(deleteFirmwareImage).firmwareImage }, args);
  },
});
