/** Settings of Redis, which connects the processes of a hub. */
import { readFileSync } from 'node:fs';
import { redisUrlProblem } from '@flotilla/bus';
import type { z } from 'zod';
import { messageOf } from '../error-message.js';
import { checked, optionalText } from './setting-kinds.js';

export const redisSettings = {
  REDIS_URL: checked(redisUrlProblem),
  FLOTILLA_REDIS_CA: optionalText,
};

export interface RedisConfig {
  /** One server, Sentinels or a cluster. */
  readonly url: string;
  /**
   * PEM file of authorities for servers with TLS; by default those of the system.
   */
  readonly caFile: string | undefined;
}

type Values = z.infer<z.ZodObject<typeof redisSettings>>;

export function redisOf({ REDIS_URL: url, FLOTILLA_REDIS_CA: caFile }: Values): RedisConfig | undefined {
  return url === undefined ? undefined : { url, caFile };
}

export function redisContradictions({ REDIS_URL: url, FLOTILLA_REDIS_CA: caFile }: Values): string[] {
  if (caFile === undefined) return [];
  if (!/^rediss[:-]/i.test(url ?? ''))
    return [
      'FLOTILLA_REDIS_CA needs Redis over TLS. Set a REDIS_URL that begins with rediss://, rediss-sentinel:// or rediss-cluster://.',
    ];
  try {
    if (readFileSync(caFile, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return [];
    return [`FLOTILLA_REDIS_CA must name a file with certificates in PEM; ${caFile} has none.`];
  } catch (error) {
    return [`FLOTILLA_REDIS_CA cannot be read: ${messageOf(error)}.`];
  }
}
