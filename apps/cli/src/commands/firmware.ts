/**
 * `flotilla firmware`: upload, publish, roll out, list. Signing and keys are in the files next to
 * it.
 */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Argv } from 'yargs';
import { expectAccepted } from '@flotilla/client';
import { withClient } from '../connection.js';
import { printRows, printThing } from '../console/output.js';
import { UsageError } from '../exit-codes.js';
import {
  FirmwareImagesDocument,
  PublishFirmwareImageDocument,
  type ImageRowFragment,
} from '../generated/operations.js';
import { jobInput, withJobOptions } from '../job-options.js';
import { eachNode, upTo } from '../pages.js';
import { runJob } from '../run-job.js';
import { command, limitOption, type GlobalArguments } from './command.js';
import { signCommand } from './firmware-sign.js';
import { signingKeysCommand } from './signing-keys.js';

export function firmwareCommand(program: Argv<GlobalArguments>) {
  return program.command('firmware', 'Upload, publish and roll out firmware', (firmware) =>
    signingKeysCommand(signCommand(listImages(publish(upload(firmware))))).command(
      'roll-out <image>',
      'Roll out a published image with a job',
      (rollOut) =>
        withJobOptions(rollOut).positional('image', {
          type: 'string',
          demandOption: true,
          describe: 'Id of the image',
        }),
      command(async (args) => {
        const input = jobInput(args, { firmwareImageId: args.image });
        return withClient(args, (client) => runJob(client, input, args));
      }),
    ),
  );
}

function upload(firmware: Argv<GlobalArguments>) {
  return firmware.command(
    'upload <file>',
    'Upload an image and print its id; devices receive it after you publish and roll it out',
    (args) =>
      args
        .positional('file', { type: 'string', demandOption: true })
        .option('kind', { choices: ['FIRMWARE', 'ASSETS'] as const, default: 'FIRMWARE' as const })
        .option('signature', {
          type: 'string',
          requiresArg: true,
          describe: 'File with the signature that `firmware sign` wrote',
        })
        .option('image-version', {
          type: 'string',
          requiresArg: true,
          describe: 'Version of an ASSETS image, which does not contain one',
        }),
    command(async (args) => {
      const content = await imageIn(args.file);
      const signature =
        args.signature === undefined ? undefined : (await (await imageIn(args.signature)).text()).trim();
      await withClient(args, async (client) => {
        const { kind, imageVersion: version } = args;
        const proof = {
          ...(version === undefined ? {} : { version }),
          ...(signature === undefined ? {} : { signature }),
        };
        const file = { content, fileName: path.basename(args.file), kind, ...proof };
        await printThing({ id: await client.uploadFirmware(file) }, args);
      });
    }),
  );
}

async function imageIn(file: string): Promise<Blob> {
  try {
    if (!(await stat(file)).isFile()) throw new UsageError(`${file} is not a file. Name the file of an image.`);
    return await openAsBlob(file);
  } catch (error) {
    throw error instanceof UsageError
      ? error
      : new UsageError(
          `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}. Check its name.`,
        );
  }
}

function publish(firmware: Argv<GlobalArguments>) {
  return firmware.command(
    'publish <image>',
    'Publish an image for the given boards',
    (args) =>
      args
        .positional('image', { type: 'string', demandOption: true, describe: 'Id of the image' })
        .option('model', {
          type: 'string',
          array: true,
          nargs: 1,
          demandOption: true,
          describe: 'Board, as devices report it; repeatable',
        })
        .option('notes', {
          type: 'string',
          requiresArg: true,
          describe: 'Notes that the console shows with the image',
        }),
    command((args) =>
      withClient(args, async (client) => {
        const variables = { id: args.image, models: args.model, notes: args.notes };
        const { publishFirmwareImage } = await client.request(PublishFirmwareImageDocument, variables);
        await printThing({ ...expectAccepted(publishFirmwareImage).firmwareImage }, args);
      }),
    ),
  );
}

function listImages(firmware: Argv<GlobalArguments>) {
  return firmware.command(
    ['list', '$0'],
    'List images, latest first',
    (list) => list.option('limit', limitOption(50)),
    command((args) =>
      withClient(args, async (client) => {
        const found = eachNode(async (page) => (await client.request(FirmwareImagesDocument, page)).firmwareImages);
        await printRows(
          upTo(args.limit, found),
          [
            { head: 'ID', of: ({ id }) => id },
            { head: 'VERSION', of: ({ version }) => version },
            { head: 'PROJECT', of: ({ project }) => project },
            { head: 'CHIP', of: ({ chip }) => chip },
            { head: 'STATE', of: stateOf },
            { head: 'SIGNED BY', of: ({ signedBy }) => signedBy?.name },
            { head: 'MODELS', of: ({ models }) => models },
            { head: 'UPLOADED', of: ({ uploadedAt }) => uploadedAt },
          ],
          args,
        );
      }),
    ),
  );
}

function stateOf({ publishedAt, withdrawnAt }: ImageRowFragment): string {
  if (withdrawnAt !== null) return 'withdrawn';
  return publishedAt === null ? 'uploaded' : 'published';
}
