/** Undefined for what is no JSON; the schema then refuses it. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
