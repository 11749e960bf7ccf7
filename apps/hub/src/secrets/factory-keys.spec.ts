import { describe, expect, it } from 'vitest';
import { parseFactoryKeys } from './factory-keys.js';

const key = '0a'.repeat(32);

describe('the list of factory keys', () => {
  it('has a serial number and a key per line, and may have a head', () => {
    const keys = parseFactoryKeys('keys.csv', `serial,key\r\nSN-1,${key}\n\nSN-2,${key.toUpperCase()}\n`);
    expect(keys.map(({ serial }) => serial)).toEqual(['SN-1', 'SN-2']);
    expect(keys[1]?.key).toEqual(Buffer.alloc(32, 0x0a));
  });

  it('may begin with a byte order mark, as spreadsheets write it', () => {
    for (const text of [`serial,key\r\nSN-1,${key}\r\n`, `SN-1,${key}`])
      expect(parseFactoryKeys('keys.csv', `\ufeff${text}`).map(({ serial }) => serial)).toEqual(['SN-1']);
  });

  it.each([`SN-1;${key}`, `SN-1,${key.slice(1)}`, `,${key}`])(
    'refuses %s by its line number, without repeating a secret',
    (row) => {
      expect(() => parseFactoryKeys('keys.csv', `\n${row}`)).toThrow(
        /^FLOTILLA_FACTORY_KEYS \(keys\.csv\) .* in line 2$/,
      );
    },
  );
});
