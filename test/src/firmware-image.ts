/** Firmware images for stories: made as the build tools make them, uploaded as people do. */
import { createHash } from 'node:crypto';
import { makeAppImage, type AppImageRecipe } from '@flotilla/firmware/app-image-maker';
import type { HubProcess } from './hub-process.js';

export function makeImage(recipe: Partial<AppImageRecipe> = {}): Uint8Array<ArrayBuffer> {
  return makeAppImage({ version: '2.5.0', hash: createHash('sha256'), ...recipe });
}

export interface UploadAnswer {
  readonly status: number;
  readonly body: { readonly id?: string; readonly code?: string; readonly message?: string };
}

export async function uploadImage(hub: HubProcess, file: Uint8Array<ArrayBuffer>): Promise<UploadAnswer> {
  const form = new FormData();
  form.append('file', new Blob([file]), 'xiaozhi.bin');
  const headers = { authorization: `Bearer ${hub.adminKey}` };
  const response = await fetch(`${hub.httpUrl}/api/firmware`, { method: 'POST', headers, body: form });
  return { status: response.status, body: (await response.json()) as UploadAnswer['body'] };
}
