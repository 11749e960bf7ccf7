/** ARCHITECTURE.md shows the fences that lint enforces: one table, read from both files as text. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const names = (text: string | undefined, quote: RegExp) =>
  [...(text ?? '').matchAll(quote)].map((match) => match[1] ?? '');

/** Project → projects that it may import. */
type Fences = Readonly<Record<string, readonly string[]>>;

function enforced(): Fences {
  const block = /const mayImport = \{\n(.*?)\n\};/s.exec(read('eslint.config.mjs'))?.[1] ?? '';
  const rows = [...block.matchAll(/^ {2}'?([a-z-]+)'?: \[([^\]]*)\],$/gm)];
  return Object.fromEntries(rows.map(([, project = '', list]) => [project, names(list, /'([a-z-]+)'/g)]));
}

function documented(): Fences {
  const section = /^## The fences\n(.*?)^## /ms.exec(read('ARCHITECTURE.md'))?.[1] ?? '';
  const rows = [...section.matchAll(/^\| `([a-z-]+)` +\| (.+?) \|$/gm)];
  return Object.fromEntries(rows.map(([, project = '', list]) => [project, names(list, /`([a-z-]+)`/g)]));
}

describe('the fences in ARCHITECTURE.md', () => {
  it('are the ones that lint enforces', () => {
    expect(Object.keys(enforced()).length).toBeGreaterThan(10);
    expect(documented()).toEqual(enforced());
  });
});
