/** The rules for what operators call devices: names and tags. */
import type { Refusal } from '@flotilla/fleet';

/** Characters of a name: one line of a list. */
const nameLengthMax = 100;
/** Tags of one device; each is an entry of the index. */
const tagsMax = 50;
/** Letters and digits of any script, and the marks that people join words with. */
const tagPattern = /^[\p{L}\p{N}][\p{L}\p{N}_.:/-]{0,63}$/u;

/** The first rule that is broken, or undefined. `path` leads to the object that has the members. */
export function refuseDeviceNames(
  { name, tags }: { readonly name?: string | null | undefined; readonly tags?: readonly string[] | null | undefined },
  path: readonly string[],
): Refusal | undefined {
  if (typeof name === 'string' && (name.trim() === '' || name.length > nameLengthMax)) {
    return { code: 'INVALID', message: `A name has 1 to ${nameLengthMax} characters; null takes it away.`, path: [...path, 'name'] };
  }
  if (tags && tags.length > tagsMax) {
    return { code: 'LIMIT_EXCEEDED', message: `At most ${tagsMax} tags, but there are ${tags.length}.`, path: [...path, 'tags'] };
  }
  const bad = tags?.find((tag) => !tagPattern.test(tag));
  if (bad === undefined) return undefined;
  return {
    code: 'INVALID',
    message: `"${bad.slice(0, 80)}" is no tag: 1 to 64 letters, digits and _ . : / -, the first a letter or digit.`,
    path: [...path, 'tags'],
  };
}
