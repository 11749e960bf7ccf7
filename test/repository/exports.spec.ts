/**
 * What is exported is imported elsewhere, so that `export` says that another file needs a name, and
 * an index says what other projects need. The client is a public package and keeps its promises.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

function sourcesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist')
    .flatMap((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory() ? sourcesBelow(file) : /\.tsx?$/.test(entry.name) ? [file] : [];
    });
}

/** Other entries of packages than their index. */
const entries: Readonly<Record<string, string>> = {
  '@flotilla/client/devices-csv': 'libs/client/src/devices-csv/parse-devices.ts',
  '@flotilla/client/schema': 'libs/client/src/generated/schema-types.ts',
};
/** The build infers types with these names, and could not write its declarations without them. */
const namedInDeclarations: readonly string[] = [
  'libs/fleet/src/configuration/record-applied.ts: RecordedConfiguration',
  'libs/fleet/src/desired-states/preview-desired-state.ts: DesiredStatePreview',
  'libs/fleet/src/jobs/commands/rerun-job.ts: RerunRequest',
  'libs/fleet/src/measurements/recording-rules.ts: RecordingRuleRequest',
  'libs/fleet/src/rollout/revert-job.ts: RevertAnswer',
  'libs/jobs/src/index.ts: AbortAction',
  'libs/jobs/src/index.ts: AbortOutcome',
  'libs/registry/src/database/sql-file.ts: SqlType',
  'libs/registry/src/index.ts: EmbeddedPostgres',
  'libs/registry/src/index.ts: Presence',
];
const isOfIndex = (each: string) => /^libs\/[\w-]+\/src\/index\.ts: /.test(each);
const isPublic = /^libs\/client\/src\/(?:index|devices-csv\/parse-devices)\.ts$/;

const sources = new Map(
  ['libs', 'apps', 'bench', 'test']
    .flatMap(sourcesBelow)
    .map((file) => [file, readFileSync(path.join(root, file), 'utf8').replace(/^\s*\/\/.*$|\/\*[\s\S]*?\*\//gm, '')]),
);

function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.'))
    return entries[specifier] ?? specifier.replace(/^@flotilla\/([\w-]+)$/, 'libs/$1/src/index.ts');
  const base = path.join(path.dirname(file), specifier).replace(/\.js$/, '');
  return [`${base}.ts`, `${base}.tsx`].find((candidate) => existsSync(path.join(root, candidate)));
}

interface Named {
  /** The project, such as `libs/jobs`. */
  readonly by: string;
  readonly target: string | undefined;
  /** `*`: all names may be used. */
  readonly name: string;
}

const projectOf = (file: string) => file.split('/', 2).join('/');
const named = /(?:import|export)\s(?:type\s)?[^;'"{]*\{([^}]*)\}\s*from\s*'([^']+)'/g;
const whole = /(?:import\(|\* as \w+ from\s*)'([^']+)'/g;
const namesIn = (list: string) => list.split(',').flatMap((each) => /^\s*(?:type\s+)?(\w+)/.exec(each)?.[1] ?? []);

/** What files name of others. */
const uses = new Set(
  [...sources]
    .flatMap(([file, text]) => {
      const by = projectOf(file);
      const someNames = [...text.matchAll(named)].flatMap(([, list = '', specifier = '']) =>
        namesIn(list).map((name): Named => ({ by, target: targetOf(file, specifier), name })),
      );
      const allNames = [...text.matchAll(whole)].map(([, specifier = '']): Named => ({
        by,
        target: targetOf(file, specifier),
        name: '*',
      }));
      return [...someNames, ...allNames];
    })
    .map(({ by, target = '', name }) => `${target} ${name} ${by}`),
);
const projects = [...new Set([...sources.keys()].map(projectOf))];

const isUsed = (file: string, name: string, within: (project: string) => boolean) =>
  projects.some((by) => within(by) && (uses.has(`${file} ${name} ${by}`) || uses.has(`${file} * ${by}`)));

it('finds imports', () => expect(uses.size).toBeGreaterThan(5_000));

it('is in an index because another project imports it', () => {
  const indexes = [...sources].filter(([file]) => /^libs\/[\w-]+\/src\/index\.ts$/.test(file) && !isPublic.test(file));
  expect(indexes.length).toBeGreaterThan(10);
  const unused = indexes.flatMap(([file, text]) =>
    [...text.matchAll(named)]
      .flatMap(([, list = '']) => namesIn(list))
      .filter((name) => !isUsed(file, name, (project) => project !== projectOf(file)))
      .map((name) => `${file}: ${name}`),
  );
  expect(unused.sort()).toEqual(namedInDeclarations.filter(isOfIndex));
});

it('is exported because another file imports it', () => {
  const declared = /^export (?:async |abstract )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  const unused = [...sources]
    .filter(([file]) => /^(?:libs|apps)\/[\w-]+\/src\//.test(file) && !/\/generated\/|\.(?:spec|suite)\./.test(file))
    .filter(([file]) => !isPublic.test(file))
    .flatMap(([file, text]) =>
      [...text.matchAll(declared)].flatMap(([, name = '']) =>
        isUsed(file, name, () => true) ? [] : [`${file}: ${name}`],
      ),
    );
  expect(unused.sort()).toEqual(namedInDeclarations.filter((each) => !isOfIndex(each)));
});
