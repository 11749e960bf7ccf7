/** Links, files, scripts and cited sections in the documentation exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const made = /^(?:node_modules|dist|generated|\..+)$/;

function filesBelow(folder: string, suffix: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => !made.test(entry.name))
    .flatMap((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(file, suffix) : file.endsWith(suffix) ? [file] : [];
    });
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');
const pages = filesBelow('.', '.md');

/** Numbered headings of a page, such as 2 and 2.4. */
const sectionsOf = (page: string) => new Set(found(read(page), /^#{2,3} (\d+(?:\.\d+)?) /gm));

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (page: string) => {
  const prose = read(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return new Set(found(prose, /^#+ (.+)$/gm).map(anchorOf));
};

/** The pages that comments cite. */
const citedPages: Readonly<Record<string, string>> = {
  xiaozhi: 'docs/wire.md',
  mcpu: 'docs/mcpu.md',
  jobs: 'docs/jobs.md',
};
const publicStandard = /^(?:GraphQL|JSON-RPC|NIST SP [\w-]+|RFC \d+)$/;

interface Citation {
  readonly file: string;
  readonly name: string;
  readonly section: string;
}

/** Sections that comments cite as `[name §1.2, §3, other §4]`, also across two lines. */
function citationsIn(file: string): readonly Citation[] {
  const text = read(file).replaceAll(/\s*\n\s*(?:\*|\/\/)\s/g, ' ');
  return found(text, /\[(\w[^[\]§]* §[^[\]]*)\]/g).flatMap((list) => {
    let name = '';
    return list.split(', ').flatMap((part) => {
      const [, given, section] = /^(?:(.+) )?§(\d+(?:\.\d+)?)/.exec(part) ?? [];
      name = given ?? name;
      return section === undefined ? [] : [{ file, name, section }];
    });
  });
}

const citations = ['libs', 'apps', 'bench'].flatMap((folder) => filesBelow(folder, '.ts').flatMap(citationsIn));

const served = buildSchema(read('libs/api/schema.graphql'));
const examplesOf = (page: string) => found(read(page), /^```graphql\n([\s\S]*?)^```/gm);

describe('the documentation', () => {
  it.each(pages)('links only to files that exist: %s', (page) => {
    const targets = found(read(page), /\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g);
    expect(targets.filter((target) => !existsSync(path.join(root, path.dirname(page), target)))).toEqual([]);
  });

  it.each(pages)('links only to headings that exist: %s', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const missing = links.filter(([, file = '', anchor = '']) => {
      const target = file === '' ? page : path.join(path.dirname(page), file);
      return target.endsWith('.md') && !anchorsOf(target).has(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it.each(pages)('names only files of the repository that exist: %s', (page) => {
    const named = found(read(page), /`((?:libs|apps|docs|test|prisma|scripts)\/[\w./-]+)`/g).filter(
      (name) => !name.includes('/dist/'),
    );
    expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  });

  it.each(pages.filter((page) => examplesOf(page).length > 0))(
    'shows only operations that the hub serves: %s',
    (page) => {
      const problems = examplesOf(page).flatMap((example) =>
        validate(served, parse(example)).map(({ message }) => message),
      );
      expect(problems).toEqual([]);
    },
  );

  it.each(pages)('names only scripts that package.json has: %s', (page) => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    expect(found(read(page), /npm run ([a-z:]+)/g).filter((script) => scripts[script] === undefined)).toEqual([]);
  });

  it('has a page for every name in citations, except public standards', () => {
    const unknown = citations.filter(({ name }) => citedPages[name] === undefined && !publicStandard.test(name));
    expect(unknown).toEqual([]);
  });

  it.each(Object.entries(citedPages))('has every section that comments cite as [%s §…]', (cited, page) => {
    const sections = sectionsOf(page);
    const ofPage = citations.filter(({ name }) => name === cited);
    expect(ofPage).not.toEqual([]);
    expect(ofPage.filter(({ section }) => !sections.has(section))).toEqual([]);
  });
});
