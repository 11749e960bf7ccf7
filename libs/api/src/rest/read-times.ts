/** Times in the query of a route. */
import { ApiError } from '../errors/api-error.js';
import { dateTimeScalar } from '../scalars/date-time.scalar.js';

/** As ms since the Unix epoch; nothing where the time is not given. Throws ApiError. */
export function boundOf<Name extends 'since' | 'until'>(
  name: Name,
  text: unknown,
): { readonly [key in Name]?: number } {
  if (text === undefined) return {};
  try {
    return { [name]: dateTimeScalar.parseValue(text) } as { readonly [key in Name]?: number };
  } catch {
    throw new ApiError('BAD_USER_INPUT', `"${name}" is a time with a zone, such as 2026-01-31T00:00:00Z.`);
  }
}
