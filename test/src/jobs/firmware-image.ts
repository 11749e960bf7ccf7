/** Firmware images for stories: made as the build tools make them, uploaded as people do. */
import { createHash } from 'node:crypto';
import { makeAppImage, type AppImageRecipe } from '@flotilla/firmware/app-image-maker';
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

export function makeImage(recipe: Partial<AppImageRecipe> = {}): Uint8Array<ArrayBuffer> {
  return makeAppImage({ version: '2.5.0', hash: createHash('sha256'), ...recipe });
}

export interface UploadAnswer {
  readonly status: number;
  readonly body: { readonly id?: string; readonly code?: string; readonly message?: string };
}

export async function uploadImage(
  hub: HubProcess,
  file: Uint8Array<ArrayBuffer>,
  fields: Readonly<Record<string, string>> = {},
): Promise<UploadAnswer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([file]), 'xiaozhi.bin');
  const headers = { authorization: `Bearer ${hub.adminKey}` };
  const response = await fetch(`${hub.httpUrl}/api/firmware`, { method: 'POST', headers, body: form });
  return { status: response.status, body: (await response.json()) as UploadAnswer['body'] };
}

/** Uploads an image and publishes it for these boards; resolves to its id. */
export async function publishedImage(
  hub: HubProcess,
  file: Uint8Array<ArrayBuffer>,
  models: readonly string[],
  fields: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { body } = await uploadImage(hub, file, fields);
  const query = `mutation ($id: ID!, $models: [String!]!) {
    publishFirmwareImage(id: $id, models: $models) { userErrors { message } }
  }`;
  const { publishFirmwareImage: answer } = await ask<{ publishFirmwareImage: { userErrors: readonly unknown[] } }>(
    hub,
    query,
    {
      id: body.id,
      models,
    },
  );
  if (body.id === undefined || answer.userErrors.length > 0)
    throw new Error(`Not published: ${JSON.stringify([body, answer])}`);
  return body.id;
}

/**
 * Assets as the build tools make them: how many files, the checksum of what follows, its length.
 */
export function makeAssets(contentBytes: number): Uint8Array<ArrayBuffer> {
  const assets = new Uint8Array(12 + contentBytes);
  const content = assets.subarray(12).fill(7);
  const header = new DataView(assets.buffer);
  header.setUint32(0, 1, true);
  header.setUint32(
    4,
    content.reduce((sum, byte) => (sum + byte) & 0xffff, 0),
    true,
  );
  header.setUint32(8, contentBytes, true);
  return assets;
}
