/** Things that a command looks up by their id. */
import { FlotillaError } from '@flotilla/client';

/** Returns the thing. Throws NOT_FOUND if it is missing. */
export function found<Thing>(thing: Thing | null | undefined, what: string, id: string): Thing {
  if (thing !== null && thing !== undefined) return thing;
  throw new FlotillaError('NOT_FOUND', `${what} not found: "${id}".`);
}
