/**
 * No text asks people to fetch a package named like one of this repository from a public registry.
 * The packages are not published, so another owner of the name would receive the user's key.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const made = /^(?:node_modules|dist|generated|test-results|\.git|\.nx|\.flotilla)$/;
const isText =
  /\.(?:md|html|css|[cm]?[jt]sx?|json|graphql|prisma|ya?ml|sh|toml)$|^(?:Dockerfile|\.env\.example|\.npmrc|run)$/;

function textsBelow(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => !made.test(entry.name))
    .flatMap((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory()
        ? textsBelow(file)
        : isText.test(entry.name) && entry.name !== 'package-lock.json'
          ? [file]
          : [];
    });
}

const self = path.relative(root, fileURLToPath(import.meta.url));
const texts = textsBelow('.').filter((file) => file !== self);

interface Manifest {
  readonly dependencies?: object;
  readonly devDependencies?: object;
}
/** npx prefers installed packages. Developers' tools are in the manifest of the stories. */
const installed = new Set(
  ['package.json', 'test/package.json'].flatMap((file) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Manifest;
    return Object.keys({ ...dependencies, ...devDependencies });
  }),
);

/** Commands that run a package of a registry; those installed with the repository are allowed. */
const runners =
  /\b(?:npx|npm (?:exec|x)|pnpm dlx|yarn dlx|bunx)\b((?:\s+-[\w-]+)*)(?:\s+--)?\s+((?:@[\w.-]+\/)?[\w.-]+)/g;
const asCommand = /["']command["']\s*:\s*["'](?:npx|npm|pnpm|yarn|bunx)["']/g;
/** Commands that install a package of this repository from a registry. */
const installs =
  /\b(?:npm (?:i|install|add)|pnpm add|yarn add|bun add)\s+(?:-[\w-]+\s+)*(?:@flotilla\/[\w-]+|flotilla)\b/g;

const faultsOf = (text: string) => [
  ...[...text.matchAll(runners)].filter(([, , name = '']) => !installed.has(name)).map(([whole]) => whole),
  ...[...text.matchAll(asCommand), ...text.matchAll(installs)].map(([whole]) => whole),
];

describe('the commands in the repository’s texts', () => {
  it('are checked in all files that people read', () => {
    for (const file of [
      'README.md',
      'docs/agents.md',
      'apps/dashboard/src/strings/en.json',
      '.env.example',
      'docker-compose.yml',
      '.ci/run',
    ])
      expect(texts).toContain(file);
  });

  it.each([
    'npx flotilla mcp',
    'npx -y flotilla',
    'npx --yes @flotilla/cli devices',
    '"command": "npx"',
    'npm install @flotilla/client',
    'npm exec -- flotilla',
  ])('are found: %s', (text) => {
    expect(faultsOf(text)).toHaveLength(1);
  });

  it('fetch no package with a name of this repository', () => {
    expect(
      texts.flatMap((file) =>
        faultsOf(readFileSync(path.join(root, file), 'utf8')).map((fault) => `${file}: ${fault}`),
      ),
    ).toEqual([]);
  });
});
