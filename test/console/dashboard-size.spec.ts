/** What a browser loads before it shows the first page, from the built files. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const dist = fileURLToPath(new URL('../../apps/dashboard/dist', import.meta.url));

/** Bytes of compressed script. */
const FIRST_LOAD_BYTES_MAX = 250_000;

/** The scripts that these names import, directly and indirectly, without lazily loaded ones. */
function withImports(names: readonly string[], seen = new Set<string>()): ReadonlySet<string> {
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    const text = readFileSync(path.join(dist, 'assets', name), 'utf8');
    withImports(
      [...text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)].map((found) => found[1] ?? ''),
      seen,
    );
  }
  return seen;
}

it('the console loads less than 250 KB of compressed script before its first page is there', () => {
  const inPage = [...readFileSync(path.join(dist, 'index.html'), 'utf8').matchAll(/assets\/([\w.-]+\.js)"/g)].map(
    (found) => found[1] ?? '',
  );
  const firstPage = readdirSync(path.join(dist, 'assets')).filter((name) =>
    /^(overview-page|en)-[\w-]+\.js$/.test(name),
  );
  expect(inPage.length).toBeGreaterThan(0);
  expect(firstPage).toHaveLength(2);
  const scripts = withImports([...inPage, ...firstPage]);
  const bytes = [...scripts].reduce((sum, name) => sum + statSync(path.join(dist, 'assets', `${name}.gz`)).size, 0);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
});
