/** Every language says the same things. */
import { readFileSync } from 'node:fs';
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

/** Texts by their whole path. */
function flat(catalogue: object, at = ''): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(catalogue).flatMap(([key, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null
        ? Object.entries(flat(value, `${at}${key}.`))
        : [[at + key, String(value)]],
    ),
  ) as Readonly<Record<string, string>>;
}

describe('the catalogues', () => {
  it('have the same strings with the same parameters in each language', () => {
    expect([...new Set(entries(zh))].sort()).toEqual([...new Set(entries(en))].sort());
  });

  it('have both forms of each English sentence with a number and a noun, and the one form of Chinese', () => {
    const sentences = Object.entries(flat(en));
    const withNoun = sentences.filter(([, text]) => /{{\s*(count|all|total), number\s*}} [a-z]+s\b/.test(text));
    for (const [key] of withNoun) expect(key).toMatch(/_other$/);
    const plurals = (catalogue: object, form: string) =>
      Object.keys(flat(catalogue)).flatMap((key) => (key.endsWith(form) ? [key.slice(0, -form.length)] : []));
    expect(plurals(en, '_one').sort()).toEqual(plurals(en, '_other').sort());
    expect(plurals(zh, '_other').sort()).toEqual(plurals(en, '_other').sort());
    expect(plurals(zh, '_one')).toEqual([]);
  });

  it('have no plain string beside its plural forms, which no page can reach', () => {
    for (const catalogue of [en, zh]) {
      const keys = Object.keys(flat(catalogue));
      expect(keys.filter((key) => keys.includes(`${key}_other`))).toEqual([]);
    }
  });

  it('have each count with the separators of the language', () => {
    for (const catalogue of [en, zh])
      expect(Object.entries(flat(catalogue)).filter(([, text]) => /{{\s*count\s*}}/.test(text))).toEqual([]);
  });

  it('have no string in one language that is still in the other', () => {
    const untranslated = Object.entries(zh.outcome).filter(
      ([key, text]) => en.outcome[key as keyof typeof en.outcome] === text,
    );
    expect(untranslated).toEqual([]);
  });

  it('have words for each reason why a session ends', () => {
    const source = readFileSync(new URL('../../../../libs/mcp/src/transport/transport.ts', import.meta.url), 'utf8');
    const [union = ''] = /export type CloseReason =[^;]*;/.exec(source.replaceAll(/\/\/.*$/gm, '')) ?? [];
    const reasons = [...union.matchAll(/'(\w+)'/g)].map(([, reason]) => reason);
    expect(reasons).toContain('connection_lost');
    // The registry ends the sessions of processes that died and of removed devices.
    const all = [...reasons, 'hub_crashed', 'device_removed'];
    expect(Object.keys(zh.device.closeReasons).sort()).toEqual(all.sort());
  });

  it('have Chinese punctuation beside Chinese characters', () => {
    const mixed = /\p{Script=Han}\s?[,;:!?()]|[,;:!?()]\p{Script=Han}/u;
    expect(Object.entries(flat(zh)).filter(([, text]) => mixed.test(text))).toEqual([]);
    for (const mark of Object.values(zh.mark)) expect(mark).toMatch(/^[：，、（）]$/);
  });
});
