/** Settings of Redis, which connects the processes of a hub. */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { optionalText, optionalUrl } from './setting-kinds.js';

export const redisSettings = {
  REDIS_URL: optionalUrl(['redis:', 'rediss:']),
  FLOTILLA_REDIS_CA: optionalText,
};

export interface RedisConfig {
  readonly url: string;
  /**
   * PEM file of certificates that a `rediss://` server is checked with; by default those of the
   * system.
   */
  readonly caFile: string | undefined;
}

type Values = z.infer<z.ZodObject<typeof redisSettings>>;

export function redisOf({ REDIS_URL: url, FLOTILLA_REDIS_CA: caFile }: Values): RedisConfig | undefined {
  return url === undefined ? undefined : { url, caFile };
}

export function redisContradictions({ REDIS_URL: url, FLOTILLA_REDIS_CA: caFile }: Values): string[] {
  if (caFile === undefined) return [];
  if (!url?.startsWith('rediss:'))
    return ['FLOTILLA_REDIS_CA needs Redis over TLS. Set a REDIS_URL that begins with rediss://.'];
  try {
    if (readFileSync(caFile, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return [];
    return [`FLOTILLA_REDIS_CA must name a file with certificates in PEM; ${caFile} has none.`];
  } catch (error) {
    return [`FLOTILLA_REDIS_CA cannot be read: ${error instanceof Error ? error.message : String(error)}.`];
  }
}
