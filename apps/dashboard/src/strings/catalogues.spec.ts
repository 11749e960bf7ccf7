/** Every language says the same things. */
import { describe, expect, it } from 'vitest';
import en from './en.json';
import zh from './zh.json';

/** `path: names of its parameters`. Plural forms count as one: languages have different ones. */
function entries(catalogue: object, at = ''): string[] {
  return Object.entries(catalogue).flatMap(([key, value]: [string, unknown]) => {
    const path = `${at}${key}`.replace(/_(zero|one|two|few|many|other)$/, '');
    if (typeof value === 'object' && value !== null) return entries(value, `${path}.`);
    expect(value, path).toMatch(/\S/);
    const parameters = [...new Set([...String(value).matchAll(/{{\s*(\w+)/g)].map((found) => found[1]))].sort();
    return [`${path}: ${parameters.join(' ')}`];
  });
}

describe('the catalogues', () => {
  it('have the same strings with the same parameters in each language', () => {
    expect([...new Set(entries(zh))].sort()).toEqual([...new Set(entries(en))].sort());
  });

  it('have no string in one language that is still in the other', () => {
    const untranslated = Object.entries(zh.outcome).filter(
      ([key, text]) => en.outcome[key as keyof typeof en.outcome] === text,
    );
    expect(untranslated).toEqual([]);
  });
});
