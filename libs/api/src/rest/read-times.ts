/** Times in the query of a route. */
import { ApiError } from '../errors/api-error.js';

/** As ms since the Unix epoch; nothing where the time is not given. Throws ApiError. */
export function boundOf<Name extends 'since' | 'until'>(
  name: Name,
  text: unknown,
): { readonly [key in Name]?: number } {
  if (text === undefined) return {};
  const at = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new ApiError('BAD_USER_INPUT', `"${name}" is a time such as 2026-01-31T00:00:00Z.`);
  return { [name]: at } as { readonly [key in Name]?: number };
}
