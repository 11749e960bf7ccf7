/**
 * Documentation, schemas, SQL, styles and settings use plain words; ESLint checks the code.
 * The words are in scripts/lint/words-to-avoid.mjs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Words {
  findWordsToAvoid(
    text: string,
  ): readonly { readonly index: number; readonly words: string; readonly advice: string }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const wordsToAvoid = new URL('../../scripts/lint/words-to-avoid.mjs', import.meta.url);
const { findWordsToAvoid } = (await import(wordsToAvoid.href)) as Words;

const generated = /^(?:node_modules|dist|generated|test-results|\.git|\.nx|\.flotilla)$/;
const isChecked = /\.(?:md|graphql|prisma|sql|css|ya?ml)$|^(?:\.env\.example|Dockerfile|en\.json)$/;

function filesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !generated.test(name))
    .flatMap((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(file) : isChecked.test(entry.name) ? [file] : [];
    });
}

/** `line: words; write: advice` for each word to avoid, also across the end of a line. */
function faultsOf(text: string): readonly string[] {
  return findWordsToAvoid(text).map(
    ({ index, words, advice }) => `${text.slice(0, index).split('\n').length}: ${words}; write: ${advice}`,
  );
}

/** Keeps the lines of a text, and removes what is in them. */
const emptied = (text: string) => text.replace(/[^\n]/g, '');

/** Without code, and in the glossary without the words that it advises against. */
function textOf(file: string): string {
  const text = readFileSync(path.join(root, file), 'utf8');
  if (!file.endsWith('.md')) return text;
  const prose = text.replace(/^ *```[\s\S]*?^ *```$/gm, emptied).replace(/`[^`\n]+`/g, '``');
  if (file !== 'docs/glossary.md') return prose;
  return prose.replace(/^## Words to avoid\n[\s\S]*/m, emptied).replace(/\|[^|\n]*\|$/gm, '|');
}

describe('the language of the repository', () => {
  it.each(filesBelow('.'))('is plain: %s', (file) => {
    expect(faultsOf(textOf(file))).toEqual([]);
  });

  /* eslint-disable language/plain-words -- examples of what the test finds */
  it.each([
    'No answer: the call was in vain.',
    'The webhook is\ntold.',
    'Nobody reads it.',
    '- The value was changed by\n  hand.',
  ])('has no sentence like: %s', (text) => {
    expect(faultsOf(text)).toHaveLength(1);
  });
  /* eslint-enable language/plain-words */
});
