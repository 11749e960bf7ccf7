/** What the palette finds: texts of the console at once, and things of the hub by page. */

/** Kinds of things that the hub searches. */
export const hubKinds = ['devices', 'jobs', 'groups', 'images'] as const;
export type HubKind = (typeof hubKinds)[number];

export interface FoundThing {
  /** Unique within its kind. */
  readonly id: string;
  readonly text: string;
  readonly detail?: string | undefined;
}

/** The pages of one kind that were read so far. */
export interface FoundPages {
  readonly things: readonly FoundThing[];
  /** After the last thing; null at the end. */
  readonly after: string | null;
}

export type FoundByKind = Readonly<Partial<Record<HubKind, FoundPages>>>;

/** Characters from which the hub is asked. */
export const searchMin = 1;

/** Things whose text has every word of the search, in any case; those that begin with it first. */
export function matchingTexts<Thing extends { readonly text: string }>(
  things: readonly Thing[],
  search: string,
): readonly Thing[] {
  const typed = search.trim().toLowerCase();
  const words = typed.split(/\s+/);
  const matching = things.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
  const begins = ({ text }: Thing) => (text.toLowerCase().startsWith(typed) ? 0 : 1);
  return [...matching].sort((one, other) => begins(one) - begins(other));
}

/** Adds a page. Things that a change on the hub moved to a later page are not listed twice. */
export function withPage(found: FoundPages | undefined, page: FoundPages): FoundPages {
  const things = found?.things ?? [];
  const known = new Set(things.map(({ id }) => id));
  return { things: [...things, ...page.things.filter(({ id }) => !known.has(id))], after: page.after };
}
