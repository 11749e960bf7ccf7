/** The rules for what operators call devices: names and tags. */
import type { Refusal } from '@flotilla/fleet';

/** Characters of a name: one line of a list. */
const nameLengthMax = 100;
/** Tags of one device; each is an entry of the index. */
export const tagsMax = 50;
/** Letters and digits of any script, and the marks that people join words with. */
const tagPattern = /^[\p{L}\p{N}][\p{L}\p{N}_.:/-]{0,63}$/u;
const controlCharacter = /\p{Cc}/u;

/** The first broken rule, or undefined. Null removes the name if that is possible. */
export function refuseName(
  name: string | null | undefined,
  path: readonly string[],
  { isNeeded = false } = {},
): Refusal | undefined {
  if (name === null || name === undefined) return undefined;
  if (name.trim() !== '' && name.length <= nameLengthMax && !controlCharacter.test(name)) return undefined;
  const removal = isNeeded ? '' : ' Null removes it.';
  const message = `A name has 1 to ${nameLengthMax} characters on one line.${removal}`;
  return { code: 'INVALID', message, path };
}

/** The first rule that is broken, or undefined. */
export function refuseTags(tags: readonly string[], path: readonly string[]): Refusal | undefined {
  const count = new Set(tags).size;
  if (count > tagsMax)
    return { code: 'LIMIT_EXCEEDED', message: `At most ${tagsMax} tags, but there are ${count}.`, path };
  const bad = tags.find((tag) => !tagPattern.test(tag));
  if (bad === undefined) return undefined;
  const rule = '1 to 64 letters, digits and _ . : / -, beginning with a letter or digit';
  const message = `"${bad.slice(0, 80)}" is not a valid tag. A tag has ${rule}.`;
  return { code: 'INVALID', message, path };
}
