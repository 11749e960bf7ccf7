/**
 * ARCHITECTURE.md shows the module boundaries that lint enforces, names only files that exist, and
 * follows a call and a job through few files.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const names = (text: string | undefined, quote: RegExp) =>
  [...(text ?? '').matchAll(quote)].map((match) => match[1] ?? '');

const sectionOf = (title: string) =>
  new RegExp(`^## ${title}\\n(.*?)^## `, 'ms').exec(read('ARCHITECTURE.md'))?.[1] ?? '';

/** Project → projects that it may import. */
type Boundaries = Readonly<Record<string, readonly string[]>>;

function enforced(): Boundaries {
  const block = /const mayImport = \{\n(.*?)\n\};/s.exec(read('eslint.config.mjs'))?.[1] ?? '';
  const rows = [...block.matchAll(/^ {2}'?([a-z-]+)'?: \[([^\]]*)\],$/gm)];
  return Object.fromEntries(rows.map(([, project = '', list]) => [project, names(list, /'([a-z-]+)'/g)]));
}

function documented(): Boundaries {
  const rows = [...sectionOf('Module boundaries').matchAll(/^\| `([a-z-]+)` +\| (.+?) \|$/gm)];
  return Object.fromEntries(rows.map(([, project = '', list]) => [project, names(list, /`([a-z-]+)`/g)]));
}

describe('the module boundaries in ARCHITECTURE.md', () => {
  it('are the ones that lint enforces', () => {
    expect(Object.keys(enforced()).length).toBeGreaterThan(10);
    expect(documented()).toEqual(enforced());
  });
});

const isThere = (file: string) => existsSync(new URL(`../../${file}`, import.meta.url));
const isFile = (file: string) => isThere(file) && statSync(new URL(`../../${file}`, import.meta.url)).isFile();

/** The numbered rows of a path, as `number file`. */
function stepsOf(title: string): readonly (readonly [number, string])[] {
  const rows = [...sectionOf(title).matchAll(/^\| +(\d+) \| `([^`]+)` +\|/gm)];
  return rows.map(([, number = '', file = '']) => [Number(number), file] as const);
}

describe('the map in ARCHITECTURE.md', () => {
  it('names only files and folders that exist', () => {
    const named = names(read('ARCHITECTURE.md'), /`((?:libs|apps|docs|test|prisma|scripts|bench)\/[\w./-]+)`/g);
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter((file) => !isThere(file))).toEqual([]);
  });

  it.each([
    ['The path of a call', 'libs/gateway/src/mqtt/mqtt-transport.ts', 15],
    ['The path of a job', 'libs/registry/src/jobs/queue/claim-targets.sql', 20],
  ])('follows %s from the access check to %s in at most %i files', (title, last, filesMax) => {
    const steps = stepsOf(title);
    expect(steps.map(([number]) => number)).toEqual(steps.map((_, index) => index + 1));
    expect(steps.length).toBeLessThanOrEqual(filesMax);
    expect(steps[0]?.[1]).toBe('libs/api/src/access/guard-scopes.ts');
    expect(steps.at(-1)?.[1]).toBe(last);
    expect(steps.filter(([, file]) => !isFile(file))).toEqual([]);
    expect(new Set(steps.map(([, file]) => file)).size).toBe(steps.length);
  });

  it.each(['The path of a connection', 'The path of a desired state', 'The path of an alert'])(
    'numbers the steps of %s, each with one file',
    (title) => {
      const steps = stepsOf(title);
      expect(steps.length).toBeGreaterThan(5);
      expect(steps.map(([number]) => number)).toEqual(steps.map((_, index) => index + 1));
      expect(steps.filter(([, file]) => !isFile(file))).toEqual([]);
    },
  );
});
