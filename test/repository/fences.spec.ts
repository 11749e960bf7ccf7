/** Each lint rule of the project fails on a fixture that breaks it. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the fences', () => {
  let eslint: ESLint;

  beforeAll(() => {
    process.env['NX_DAEMON'] = 'false';
    eslint = new ESLint({ cwd: root });
  });

  /** The rules that this text breaks as the content of that file. */
  const broken = async (file: string, text: string) => {
    const [result] = await eslint.lintText(text, { filePath: path.join(root, file) });
    return result?.messages.map((message) => message.ruleId ?? message.message) ?? [];
  };

  it.each([
    [
      'a core that imports an adapter',
      'libs/mcp/src/fixture.ts',
      `import type { Registry } from '@flotilla/registry';\nexport type A = Registry;\n`,
    ],
    [
      'a gateway that imports the service above it',
      'libs/gateway/src/fixture.ts',
      `import * as fleet from '@flotilla/fleet';\nexport const a = fleet;\n`,
    ],
    [
      'a service that imports an adapter above it',
      'libs/fleet/src/fixture.ts',
      `import * as api from '@flotilla/api';\nexport const a = api;\n`,
    ],
    [
      'an import around the index of a lib',
      'libs/session/src/fixture.ts',
      `import type { DeviceId } from '../../mcp/src/ids.js';\nexport type A = DeviceId;\n`,
    ],
  ])('refuse %s', async (_what, file, text) => {
    expect(await broken(file, text)).toContain('@nx/enforce-module-boundaries');
  });

  it.each([
    [
      'Aedes outside the gateway',
      'libs/fleet/src/fixture.ts',
      `import { Aedes } from 'aedes';\nexport const a = Aedes;\n`,
    ],
    [
      'Prisma outside the registry',
      'libs/api/src/fixture.ts',
      `import { PrismaPg } from '@prisma/adapter-pg';\nexport const a = PrismaPg;\n`,
    ],
    [
      'BullMQ outside the bus',
      'libs/fleet/src/fixture.ts',
      `import { Queue } from 'bullmq';\nexport const a = Queue;\n`,
    ],
    [
      'undici outside the fleet service',
      'libs/gateway/src/fixture.ts',
      `import { request } from 'undici';\nexport const a = request;\n`,
    ],
    [
      'openid-client outside the API',
      'libs/fleet/src/fixture.ts',
      `import * as oidc from 'openid-client';\nexport const a = oidc;\n`,
    ],
    [
      'oidc-provider outside the API',
      'libs/fleet/src/fixture.ts',
      `import { Provider } from 'oidc-provider';\nexport const a = Provider;\n`,
    ],
    [
      'Nest outside the API',
      'libs/gateway/src/fixture.ts',
      `import { Module } from '@nestjs/common';\nexport const a = Module;\n`,
    ],
  ])('refuse %s', async (_what, file, text) => {
    expect(await broken(file, text)).toContain('no-restricted-imports');
  });

  it.each([
    ['a clock', 'export const a = Date.now();\n', 'no-restricted-syntax'],
    ['a date of now', 'export const a = new Date();\n', 'no-restricted-syntax'],
    ['chance', 'export const a = Math.random();\n', 'no-restricted-syntax'],
    ['I/O', `import { readFileSync } from 'node:fs';\nexport const a = readFileSync;\n`, 'no-restricted-syntax'],
    ['a timer', 'export const a = setTimeout;\n', 'no-restricted-globals'],
  ])('refuse %s in a core', async (_what, text, rule) => {
    expect(await broken('libs/jobs/src/fixture.ts', text)).toContain(rule);
  });

  it('refuse long files, long functions and `any`', async () => {
    expect(await broken('libs/bus/src/fixture.ts', 'export const a = 1;\n'.repeat(301))).toContain('max-lines');
    expect(
      await broken('libs/bus/src/fixture.ts', `export function a(): void {\n${'  a();\n'.repeat(70)}}\n`),
    ).toContain('max-lines-per-function');
    expect(await broken('libs/bus/src/fixture.ts', 'export const a: any = 1;\n')).toContain(
      '@typescript-eslint/no-explicit-any',
    );
  });

  it('refuse texts in the console outside its catalogues', async () => {
    const text = (jsx: string) => `export function A() {\n  return ${jsx};\n}\n`;
    for (const jsx of ['<p>Hello</p>', '<p title="Hello" />', '<p>你好</p>'])
      expect(await broken('apps/dashboard/src/fixture.tsx', text(jsx)), jsx).toContain('no-restricted-syntax');
    expect(await broken('apps/dashboard/src/fixture.tsx', text('<p>· {1}</p>'))).toEqual([]);
    expect(await broken('apps/dashboard/src/fixture.tsx', text('<IconX size={1} />'))).toContain(
      'no-restricted-syntax',
    );
    expect(await broken('apps/dashboard/src/fixture.tsx', text('<IconX aria-hidden />'))).toEqual([]);
  });

  /* eslint-disable language/plain-words -- examples of what lint finds */
  it.each([
    ['a word to avoid in a comment', '/** Nobody reads this. */', 'language/plain-words'],
    ['a word to avoid in a text', `export const a = 'started anew';`, 'language/plain-words'],
    ['a word to avoid in a template', 'export const a = (b: string) => `${b} is told`;', 'language/plain-words'],
    ['a wide comment', `// ${'wide '.repeat(20)}`, 'language/comment-size'],
    ['a comment of three lines', 'export const a = 1;\n// one\n// two\n// three', 'language/comment-size'],
    ['a doc comment of three lines', 'export const a = 1;\n/**\n * a\n * b\n * c\n */', 'language/comment-size'],
    ['a file header of six lines', `/**\n${' * line\n'.repeat(6)} */`, 'language/comment-size'],
    ['a literal that is spread into an object', 'export const a = { ...{ b: 1 } };', 'literals/no-spread-literal'],
    ['a literal that is spread into a list', 'export const a = [...[1], 2];', 'literals/no-spread-literal'],
    ['a literal as const that is spread', 'export const a = [...([1] as const), 2];', 'literals/no-spread-literal'],
    ['a line of code with 121 columns', `export const a = '${'a'.repeat(102)}';`, 'max-len'],
  ])('refuse %s', async (_what, text, rule) => {
    expect(await broken('libs/bus/src/fixture.ts', `${text}\n`)).toContain(rule);
  });

  /* eslint-enable language/plain-words */
  it('allow short comments in plain words, headers of five lines and tables', async () => {
    const header = `/**\n${' * line\n'.repeat(5)} */`;
    const table = `/**\n * Rows:\n${' * | a | b |\n'.repeat(8)} */`;
    expect(await broken('libs/bus/src/fixture.ts', `${header}\nexport const a = 1;\n${table}\n`)).toEqual([]);
  });

  it('allow what the table allows', async () => {
    expect(
      await broken(
        'libs/session/src/fixture.ts',
        `import type { DeviceId } from '@flotilla/mcp';\nexport type A = DeviceId;\n`,
      ),
    ).toEqual([]);
  });
});
