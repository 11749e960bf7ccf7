/** The fences hold: fixtures that break one must fail the lint, each with the rule that is there for it. */
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

  /** Rules that a file of this text would break if it stood there. */
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
      'a way around a lib’s index',
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

  it('refuse files and functions that grow too long, and `any`', async () => {
    expect(await broken('libs/bus/src/fixture.ts', 'export const a = 1;\n'.repeat(401))).toContain('max-lines');
    expect(
      await broken('libs/bus/src/fixture.ts', `export function a(): void {\n${'  a();\n'.repeat(70)}}\n`),
    ).toContain('max-lines-per-function');
    expect(await broken('libs/bus/src/fixture.ts', 'export const a: any = 1;\n')).toContain(
      '@typescript-eslint/no-explicit-any',
    );
  });

  it('refuse text in the console that no catalogue has', async () => {
    const text = (jsx: string) => `export function A() {\n  return ${jsx};\n}\n`;
    for (const jsx of ['<p>Hello</p>', '<p title="Hello" />', '<p>你好</p>'])
      expect(await broken('apps/dashboard/src/fixture.tsx', text(jsx)), jsx).toContain('no-restricted-syntax');
    expect(await broken('apps/dashboard/src/fixture.tsx', text('<p>· {1}</p>'))).toEqual([]);
  });

  it('refuse modules that import each other', async () => {
    const text = `import { openLocalBus } from '../local-bus.js';\nexport const a = openLocalBus;\n`;
    expect(await broken('libs/bus/src/directory/local-directory.ts', text)).toContain('import-x/no-cycle');
  });

  it('let through what the table allows', async () => {
    expect(
      await broken(
        'libs/session/src/fixture.ts',
        `import type { DeviceId } from '@flotilla/mcp';\nexport type A = DeviceId;\n`,
      ),
    ).toEqual([]);
  });
});
