/** The paths of the bytes of an upload, for callers with a key. */
import type { UploadRow } from '@flotilla/registry';

export function uploadUrl(id: string): string {
  return `/api/uploads/${id}`;
}

/** Undefined where there is no thumbnail, or not yet. */
export function thumbnailUrl({ id, thumbnailKey }: UploadRow): string | undefined {
  return thumbnailKey === undefined ? undefined : `${uploadUrl(id)}/thumbnail`;
}
