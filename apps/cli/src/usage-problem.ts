/** What is wrong with a command line, and what to type instead. */
import type { Command } from './commands/command.js';

/** More changed letters make another word. */
const distanceMax = 2;
const seeHelp = 'See --help.';

/** The message of the parser in the words of a user, with the nearest command if there is one. */
export function usageProblem(message: string | null, words: readonly string[], commands: readonly Command[]): string {
  const unknown = /^Unknown (?:arguments?|commands?): (.*)$/.exec(message ?? '')?.[1]?.split(', ');
  if (unknown === undefined) {
    const usage = message?.startsWith('Not enough non-option arguments') ? usageOf(words, commands) : undefined;
    if (usage !== undefined) return `An argument is missing. Usage: flotilla ${usage}. ${seeHelp}`;
    const sentence = (message ?? 'Invalid command').replace(/[^.!?]$/, '$&.');
    return sentence.includes('--help') ? sentence : `${sentence} ${seeHelp}`;
  }
  const typed = words.find((word) => unknown.includes(word.replace(/=.*$/, '').replace(/^-+/, '')));
  if (typed?.startsWith('-') === true) return `Unknown option ${typed.replace(/=.*$/, '')}. ${seeHelp}`;
  const name = typed ?? unknown[0] ?? '';
  const near = nearest(name, siblingsOf(words, name, commands));
  return near === undefined
    ? `Unknown command or argument "${name}". ${seeHelp}`
    : `Unknown command "${name}". Did you mean "${near}"? ${seeHelp}`;
}

/** The words of the command that was typed and its positionals, such as `enrol approve <code>`. */
function usageOf(words: readonly string[], commands: readonly Command[]): string | undefined {
  const groups: string[] = [];
  let level = commands;
  for (const word of words) {
    const found = level.find((command) => command.name === word);
    if (found?.commands.length === 0) return [...groups, found.usage].join(' ');
    if (found) groups.push(found.name);
    level = found?.commands ?? level;
  }
  return undefined;
}

/** The commands that could stand where the word is. */
function siblingsOf(words: readonly string[], name: string, commands: readonly Command[]): readonly string[] {
  let level = commands;
  for (const word of words.slice(0, words.indexOf(name))) {
    const found = level.find((command) => command.name === word);
    if (found) level = found.commands;
  }
  return level.map((command) => command.name);
}

function nearest(name: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((each) => [each, each.startsWith(name) ? 0 : distance(name, each)] as const)
    .sort(([, one], [, other]) => one - other)
    .filter(([each, far]) => far <= Math.min(distanceMax, Math.floor(each.length / 3)));
  return ranked[0]?.[0];
}

/** Levenshtein's: letters to add, remove or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
