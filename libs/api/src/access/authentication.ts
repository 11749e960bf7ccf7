/**
 * Reads API keys from `Authorization: Bearer <key>`, in HTTP and in the payload of connection_init.
 * Knows nothing of scopes.
 */
import type { ApiKeys, Principal } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';

/** Longest key that is looked up; made keys have less than 100 characters. */
const keyLengthMax = 512;

/** The key of an authorization value; undefined where it is not of that form. */
export function bearerKey(authorization: unknown): string | undefined {
  if (typeof authorization !== 'string') return undefined;
  const key = /^bearer +(\S+)$/i.exec(authorization.trim())?.[1];
  return key !== undefined && key.length <= keyLengthMax ? key : undefined;
}

/** Throws UNAUTHENTICATED without a reason, so that unknown and revoked keys look the same. */
export async function authenticate(apiKeys: ApiKeys, authorization: unknown): Promise<Principal> {
  const key = bearerKey(authorization);
  const principal = key === undefined ? undefined : await apiKeys.authenticate(key);
  if (!principal)
    throw new ApiError('UNAUTHENTICATED', 'A valid API key is needed: send "Authorization: Bearer <key>".');
  return principal;
}
