/** The last good answer to a request stays while later reads of the same request fail. */

export interface Answer<Data> {
  /** Of the request: its query and its variables. */
  readonly key: number | undefined;
  readonly data: Data;
}

interface Read<Data> {
  readonly key: number | undefined;
  /** Null or missing where the hub answered with errors alone. */
  readonly data: Data | null | undefined;
  readonly hasFailed: boolean;
}

/** A good answer to other variables is not kept: it is about something else. */
export function keptAnswer<Data>(good: Answer<Data> | undefined, { key, data, hasFailed }: Read<Data>) {
  if (hasFailed && good?.key === key) return good?.data ?? data ?? undefined;
  return data ?? undefined;
}
