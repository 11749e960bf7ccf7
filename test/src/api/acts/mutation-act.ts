/** Requests of mutations, as the stories about all mutations make them. */

/** One request. */
export interface Act {
  readonly args: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Fields of the payload, and where in it something stands that later acts need. */
  readonly select?: string;
  readonly keep?: readonly [name: string, path: string];
  readonly key?: () => string;
}

export const input = (type: string, value: Readonly<Record<string, unknown>>, more: Partial<Act> = {}): Act => ({
  args: `(input: $input)`,
  variables: { [`input: ${type}!`]: value },
  ...more,
});

export const given = (name: string, type: string, value: unknown): Act => {
  return { args: `(${name}: $${name})`, variables: { [`${name}: ${type}`]: value } };
};

export const by =
  (name: string, id: () => string, more: Partial<Act> = {}): (() => Act) =>
  () => ({
    args: `(${name}: $id)`,
    variables: { 'id: ID!': id() },
    ...more,
  });

/** What is at a path such as `job.id`. */
export function at(answer: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((found, name) => (found as Readonly<Record<string, unknown>>)[name], answer);
}
