import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandLine, safeJson, shellWord } from './shell-words';

const controls = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;
const shellish = fc.string({ unit: fc.constantFrom(...`'"\`$!\\ \t*?~#&;|<>(){}[]=%^-aZ0é汉😀`), maxLength: 12 });
const texts = fc
  .oneof(shellish, fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constant(''))
  .filter((text) => !controls.test(text));

/** What a real shell makes of a command line. */
function wordsOf(line: string): readonly string[] {
  const printed = execFileSync('sh', ['-c', `for word in ${line}; do printf '%s\\0' "$word"; done`], {
    encoding: 'utf8',
  });
  return printed.split('\0').slice(0, -1);
}

describe('words of a shell', () => {
  it('arrive in a command as they were, with any characters', () => {
    // In one line, because a shell takes long to start.
    const words = fc.sample(texts, { seed: 18, numRuns: 1_500 });
    expect(wordsOf(commandLine(words) ?? '')).toEqual(words);
  });

  it('stay readable if they need no quotes', () => {
    expect(commandLine(['flotilla', 'call', '02:00:00:00:00:01', 'self.lamp.on'])).toBe(
      'flotilla call 02:00:00:00:00:01 self.lamp.on',
    );
    expect(shellWord("it's")).toBe(`'it'\\''s'`);
  });

  it('do not exist for texts that a terminal would obey', () => {
    for (const text of ['a\nrm -rf /', '\u001b[201~', '\u009b31m', '\u202egnp.exe'])
      expect(shellWord(text), JSON.stringify(text)).toBeUndefined();
    expect(commandLine(['echo', 'a\nb'])).toBeUndefined();
  });
});

describe('JSON for a terminal', () => {
  it('means the same and has no character that a terminal obeys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = safeJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(shellWord(text)).toBeDefined();
      }),
      { seed: 18, numRuns: 300 },
    );
    expect(safeJson({ a: '\u009b\u202e' })).toBe('{"a":"\\u009b\\u202e"}');
  });
});
