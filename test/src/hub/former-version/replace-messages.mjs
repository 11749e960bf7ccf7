/** Hooks of Node that load the messages of the former version instead of those of this one. */
import { readFile } from 'node:fs/promises';

const replaced = /\/libs\/bus\/dist\/redis\/redis-messages\.js$/;

export async function load(url, context, nextLoad) {
  if (!replaced.test(url)) return nextLoad(url, context);
  const source = await readFile(new URL('./redis-messages.mjs', import.meta.url));
  return { format: 'module', shortCircuit: true, source };
}
