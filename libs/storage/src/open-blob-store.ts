/** Opens the store of a URL: `file:///folder` or `s3://bucket/prefix`. */
import { fileURLToPath } from 'node:url';
import type { BlobStore } from './blob-store.js';
import { FolderBlobStore } from './folder-blob-store.js';

interface StorageSettings {
  readonly url: URL;
  /** For buckets. */
  readonly s3: { readonly region: string; readonly endpoint?: string };
  /** Whether no other process uses the folder. */
  readonly isAlone: boolean;
  /** Whether only files are read, such as by a backup that may not write to the folder. */
  readonly isReadOnly?: boolean;
}

/** Returns what is wrong with a storage URL, if anything. */
export function storageUrlProblem(text: string): string | undefined {
  const rule = 'must be file:///folder or s3://bucket, optionally with /prefix';
  if (!URL.canParse(text)) return rule;
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return rule;
  if (url.protocol === 's3:')
    return /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname) && url.port === '' && canDecode(url.pathname)
      ? undefined
      : rule;
  if (url.protocol !== 'file:' || url.hostname !== '') return rule;
  try {
    return folderProblem(fileURLToPath(url));
  } catch {
    // An escaped slash is no part of a folder's name.
    return rule;
  }
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns what is wrong with the path of a folder. Below /proc, Node never stops to make it. */
export function folderProblem(folder: string): string | undefined {
  return /^\/+proc(\/|$)/.test(folder) ? 'must be a folder on a disk, not below /proc' : undefined;
}

/** Throws StorageError if a folder cannot be used. Sends no request to a bucket yet. */
export async function openBlobStore({ url, s3, isAlone, isReadOnly }: StorageSettings): Promise<BlobStore> {
  if (url.protocol === 'file:')
    return FolderBlobStore.open({ folder: fileURLToPath(url), isAlone, ...(isReadOnly && { isReadOnly }) });
  // The SDK takes a second and tens of megabytes to load, which a hub with a folder does not need.
  const { S3BlobStore } = await import('./s3-blob-store.js');
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
  return new S3BlobStore({ bucket: url.hostname, prefix: prefix === '' ? '' : `${prefix}/`, ...s3 });
}
