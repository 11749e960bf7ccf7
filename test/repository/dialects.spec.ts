/** Device families and transports are the same in code, database, API and console. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, isEnumType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { dialects, transportKinds } from '@flotilla/mcp';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

function valuesInPrisma(name: string): readonly string[] {
  const body = new RegExp(`^enum ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(read('prisma/schema.prisma'))?.[1] ?? '';
  return [...body.matchAll(/^ {2}(\w+)/gm)].map((match) => match[1] ?? '');
}

function valuesInApi(name: string): readonly string[] {
  const type = buildSchema(read('libs/api/schema.graphql')).getType(name);
  return isEnumType(type) ? type.getValues().map((value) => value.name) : [];
}

interface Catalogue {
  readonly devices: Readonly<Record<'dialects' | 'transports', Readonly<Record<string, string>>>>;
}

describe.each([
  ['Dialect', dialects, 'dialects'],
  ['TransportKind', transportKinds, 'transports'],
] as const)('the list %s of libs/mcp', (name, values, labels) => {
  it('is the enum of the database', () => expect(valuesInPrisma(name)).toEqual(values));

  it('is the enum of the API', () => expect(valuesInApi(name)).toEqual(values));

  it.each(['en', 'zh'])('has labels in the console: %s', (language) => {
    const { devices } = JSON.parse(read(`apps/dashboard/src/strings/${language}.json`)) as Catalogue;
    expect(Object.keys(devices[labels])).toEqual(values);
  });
});
