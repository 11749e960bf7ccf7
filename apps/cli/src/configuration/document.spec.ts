import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { standardInput } from '../json-input.js';
import { documentText, folderOf, readDocuments, schemaOf } from './document.js';
import type { Fields } from './kind.js';
import { kinds } from './kinds.js';

let folder: string;
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'flotilla-document-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string, name = 'flotilla.yaml'): string {
  const target = path.join(folder, name);
  writeFileSync(target, text);
  return target;
}

describe('a configuration file', () => {
  it('is read as it is written', () => {
    const document = new Map<string, ReadonlyMap<string, Fields>>([
      ['DeviceGroup', new Map([['Lobby: "west"', { filter: { tags: ['lobby'] } }]])],
      ['Webhook', new Map([['https://a.example', { types: ['*'], enabled: false }]])],
    ]);
    expect(readDocuments([file(documentText(document, './schema.json'))], kinds)).toEqual(document);
  });

  it.each([
    ['flotilla: 1\nDeviceGroup: { a: { filter: {} }\n', /flotilla\.yaml:\d+:\d+: /],
    ['flotilla: 1\nDeviceGroup: { a: {} }\n', /\/DeviceGroup\/a must have required property 'filter'/],
    ['flotilla: 1\nDeviceGroups: {}\n', /must NOT have additional properties: DeviceGroups/],
    ['flotilla: 1\nApiKey: { a: { scopes: [ALL] } }\n', /\/ApiKey\/a\/scopes\/0 .*DEVICES_READ/],
    ['flotilla: 2\n', /\/flotilla must be equal to constant/],
    [
      'flotilla: 1\nNotificationChannel: { a: { kind: SLACK, config: { url: "https://a.example/t" } } }\n',
      /\/NotificationChannel\/a\/config\/url must be object: a secret: name an environment variable/,
    ],
    ['', /flotilla\.yaml is empty\. A configuration begins with the line "flotilla: 1"\./],
    ['DeviceGroup: {}\n', /must have required property 'flotilla'/],
    ['flotilla: 1\nToolPolicy: { a: { idempotent: yes please, disruptive: true } }\n', /must be boolean/],
    ['flotilla: 1\nDeviceGroup: { a: { filter: *shops } }\n', /flotilla\.yaml: There is no anchor "&shops" before/],
  ])('with a mistake is refused with its place: %s', (text, expected) => {
    expect(() => readDocuments([file(text)], kinds)).toThrow(expected);
  });

  it('may have as many aliases of one anchor as a hub has things of a kind', () => {
    const read = (count: number) => {
      const aliases = Array.from({ length: count }, (_, index) => `, g${index}: *a`).join('');
      const text = `flotilla: 1\nDeviceGroup: { a: &a { filter: { tags: [shop] } }${aliases} }\n`;
      return readDocuments([file(text)], kinds).get('DeviceGroup');
    };
    expect(read(200)?.get('g199')).toEqual({ filter: { tags: ['shop'] } });
    expect(() => read(3_000)).toThrow(/flotilla\.yaml: An anchor has more than 2000 aliases/);
  });

  it('names each thing once, in all files together', () => {
    const one = file('flotilla: 1\nWebhook: { "https://a.example": { types: ["*"] } }\n', 'one.yaml');
    const other = file('flotilla: 1\nWebhook: { "https://a.example": { types: ["*"] } }\n', 'other.yaml');
    expect(() => readDocuments([one, other], kinds)).toThrow(/other\.yaml: Webhook "https:\/\/a\.example" is also/);
    expect(readDocuments([one], kinds).get('Webhook')?.size).toBe(1);
  });

  it('names other files from its own folder, also next to a file of another folder', () => {
    mkdirSync(path.join(folder, 'images'), { recursive: true });
    const text = (name: string) => `flotilla: 1\nFirmwareImage: { ${name}: { models: [m], file: lamp.bin } }\n`;
    const files = [file(text('a')), file(text('b'), path.join('images', 'more.yaml'))];
    const images = readDocuments(files, kinds).get('FirmwareImage');
    expect(images?.get('a')?.['file']).toBe('lamp.bin');
    expect(images?.get('b')?.['file']).toBe(path.join('images', 'lamp.bin'));
  });

  it('may be standard input, whose paths begin at the working folder', () => {
    const text = 'flotilla: 1\nFirmwareImage: { a: { models: [m], file: lamp.bin } }\n';
    const images = readDocuments([standardInput], kinds, text).get('FirmwareImage');
    expect(images?.get('a')?.['file']).toBe('lamp.bin');
    expect(folderOf(standardInput)).toBe(process.cwd());
    const both = readDocuments([file('flotilla: 1\n'), standardInput], kinds, text).get('FirmwareImage');
    expect(path.resolve(folder, String(both?.get('a')?.['file']))).toBe(path.resolve('lamp.bin'));
    expect(() => readDocuments([standardInput], kinds, 'flotilla: 2')).toThrow(/^Standard input is not a config/);
  });

  it('has a schema with all kinds', () => {
    const { properties } = schemaOf(kinds) as { readonly properties: object };
    expect(Object.keys(properties)).toEqual(['flotilla', ...kinds.map(({ kind }) => kind)]);
  });
});
