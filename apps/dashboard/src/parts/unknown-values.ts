/** What a value is that comes from an address, from JSON or from storage. */

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The router reads a text such as `12` as a number. */
export function isText(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '');
}
