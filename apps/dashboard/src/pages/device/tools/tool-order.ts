/** The order of a tool list: favourites of this browser, then recent calls, then the rest. */

/** For all devices: the same tool of another device is a favourite, too. */
const storageKey = 'flotilla.favourite-tools';
/** Kept favourites; the oldest gives way. */
const favouritesMax = 200;

export function keptFavourites(): ReadonlySet<string> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return new Set(Array.isArray(kept) ? kept.filter((name) => typeof name === 'string') : []);
  } catch {
    return new Set();
  }
}

export function keepFavourites(names: ReadonlySet<string>): void {
  localStorage.setItem(storageKey, JSON.stringify([...names].slice(-favouritesMax)));
}

/** `recent` has the names of called tools, latest first; a name may occur more than once. */
export function toolsInOrder<Tool extends { readonly name: string }>(
  tools: readonly Tool[],
  favourites: ReadonlySet<string>,
  recent: readonly string[],
): readonly Tool[] {
  const place = ({ name }: Tool): number => {
    if (favourites.has(name)) return -1;
    const index = recent.indexOf(name);
    return index === -1 ? recent.length : index;
  };
  return [...tools].sort((one, other) => place(one) - place(other));
}
