/** Settings of the file storage: a folder, or an S3-compatible bucket. */
import { storageUrlProblem } from '@flotilla/storage';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { checked, optionalText, optionalUrl } from './setting-kinds.js';

export const storageSettings = {
  FLOTILLA_STORAGE_URL: checked(storageUrlProblem),
  FLOTILLA_S3_ENDPOINT: optionalUrl(['http:', 'https:']),
  AWS_REGION: optionalText,
};

export interface StorageConfig {
  readonly url: URL;
  readonly s3: { readonly region: string; readonly endpoint?: string };
}

type Values = z.infer<z.ZodObject<typeof storageSettings>>;

/** Stores that are compatible with S3 accept this region. */
const REGION_OF_OTHERS = 'us-east-1';

export function storageOf(values: Values, dataDir: string): StorageConfig {
  const { FLOTILLA_STORAGE_URL: url, FLOTILLA_S3_ENDPOINT: endpoint } = values;
  return {
    url: url === undefined ? pathToFileURL(path.join(dataDir, 'files')) : new URL(url),
    s3: { region: values.AWS_REGION ?? REGION_OF_OTHERS, ...(endpoint !== undefined && { endpoint }) },
  };
}

export function storageContradictions(values: Values): string[] {
  const isBucket = values.FLOTILLA_STORAGE_URL?.startsWith('s3:') ?? false;
  if (isBucket && values.AWS_REGION === undefined && values.FLOTILLA_S3_ENDPOINT === undefined)
    return ['FLOTILLA_STORAGE_URL names a bucket, which needs AWS_REGION, or FLOTILLA_S3_ENDPOINT outside of Amazon.'];
  if (!isBucket && values.FLOTILLA_S3_ENDPOINT !== undefined)
    return ['FLOTILLA_S3_ENDPOINT is for a bucket. Set FLOTILLA_STORAGE_URL=s3://bucket, too.'];
  return [];
}
