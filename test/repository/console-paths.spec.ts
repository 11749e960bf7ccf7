/** The hub serves each page of the console by its address, and knows no others. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
/** The pages that an exact path and a path with a parameter share. */
const withParameter = (path: string) => path.replace(/^\/(jobs|desired)\/new$/, '/$1/:id');

it('serves the pages of routes.tsx', () => {
  const pages = [...read('apps/dashboard/src/routes.tsx').matchAll(/^ {2}path: '([^']+)',$/gm)].map(([, path = '']) =>
    withParameter(path.replaceAll('$', ':')),
  );
  const list = /consolePaths = \[(.*?)\]/s.exec(read('libs/api/src/console/serve-console.ts'))?.[1] ?? '';
  const served = [...list.matchAll(/'([^']+)'/g)].map(([, path = '']) => path);
  expect(pages.length).toBeGreaterThan(15);
  expect([...served, '/oauth/consent/:uid'].sort()).toEqual([...new Set(pages)].sort());
});
