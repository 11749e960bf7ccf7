/** Published firmware images, by SHA-256. Their bytes are in other files. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import { unreadable } from '../../error-message.js';
import { UsageError } from '../../exit-codes.js';
import {
  ConfiguredImagesDocument,
  PublishConfiguredImageDocument,
  WithdrawFirmwareImageDocument,
} from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { withoutNull, type Fields, type Kind, type KindContext, type Live } from '../kind.js';
import { allOf } from './all-of.js';

export const firmwareImages: Kind = {
  kind: 'FirmwareImage',
  nameIs: 'SHA-256 of the file',
  fields: {
    models: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'Boards that may run it.' },
    notes: { type: 'string' },
    file: { type: 'string', description: 'The image, from the folder of this file. It is uploaded if it is missing.' },
    project: { type: 'string', description: 'For readers.' },
    version: { type: 'string', description: 'For readers; of an ASSETS image also for the upload.' },
    kind: { enum: ['FIRMWARE', 'ASSETS'] },
  },
  required: ['models'],
  notes: ['file', 'project', 'version', 'kind'],
  paths: ['file'],
  sets: ['models'],
  async read({ client }) {
    return (await imagesOf(client))
      .filter(({ publishedAt, withdrawnAt }) => publishedAt !== null && withdrawnAt === null)
      .map(({ id, sha256, models, notes, project, version, kind }) => ({
        id,
        name: sha256,
        fields: withoutNull({ models, notes, project, version, kind }),
      }));
  },
  async requireInputs(sha256, fields, { client, folder }) {
    if ((await knownImage(sha256, client)) === undefined) await readImage(sha256, fields, folder);
  },
  async create(sha256, fields, context) {
    const { client } = context;
    const known = await knownImage(sha256, client);
    await publish(known?.id ?? (await upload(sha256, fields, context)), fields, client);
  },
  update: ({ id }: Live, fields, { client }) => publish(id, fields, client),
  async remove({ id }, { client }) {
    expectAccepted((await client.request(WithdrawFirmwareImageDocument, { id })).withdrawFirmwareImage);
  },
};

export function imagesOf(client: FlotillaClient) {
  return allOf(eachNode(async (page) => (await client.request(ConfiguredImagesDocument, page)).firmwareImages));
}

/** An upload of the same bytes would also bring a withdrawn image back. */
async function knownImage(sha256: string, client: FlotillaClient) {
  const same = (await imagesOf(client)).filter((image) => image.sha256 === sha256);
  return same.find(({ withdrawnAt }) => withdrawnAt === null) ?? same[0];
}

const modelsOf = ({ models }: Fields): readonly string[] => (Array.isArray(models) ? models.map(String) : []);

/** For exactly these boards: a refused publication leaves the former ones. */
async function publish(id: string, fields: Fields, client: FlotillaClient): Promise<void> {
  const notes = typeof fields['notes'] === 'string' ? fields['notes'] : null;
  const variables = { id, models: modelsOf(fields), notes };
  expectAccepted((await client.request(PublishConfiguredImageDocument, variables)).publishFirmwareImage);
}

async function upload(sha256: string, fields: Fields, { client, folder }: KindContext): Promise<string> {
  const { version } = fields;
  const kind = fields['kind'] === 'ASSETS' ? 'ASSETS' : 'FIRMWARE';
  const { bytes, fileName } = await readImage(sha256, fields, folder);
  return client.uploadFirmware({
    content: new Blob([bytes]),
    fileName,
    kind,
    ...(kind === 'ASSETS' && typeof version === 'string' && { version }),
  });
}

/** The image of the file. Throws UsageError where it is missing or another one. */
async function readImage(sha256: string, { file }: Fields, folder: string) {
  if (typeof file !== 'string')
    throw new UsageError(
      `The hub has no image with the SHA-256 ${sha256}. Upload it (flotilla firmware upload), or name its file.`,
    );
  const bytes = await readFile(path.resolve(folder, file)).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256)
    throw new UsageError(`${file} has the SHA-256 ${found}, not ${sha256}. Correct the configuration.`);
  return { bytes, fileName: path.basename(file) };
}
