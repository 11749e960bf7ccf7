/** Messages of the parser become sentences that say what to type. */
import { describe, expect, it } from 'vitest';
import { commands } from './program.js';
import { usageProblem } from './usage-problem.js';

describe('a wrong command line', () => {
  it.each([
    ['Unknown argument: paus', 'jobs paus', 'Unknown command "paus". Did you mean "pause"? See --help.'],
    ['Unknown argument: device', 'device', 'Unknown command "device". Did you mean "devices"? See --help.'],
    ['Unknown argument: bogus', 'bogus', 'Unknown command or argument "bogus". See --help.'],
    ['Unknown argument: tool', 'devices --tool x', 'Unknown option --tool. See --help.'],
    ['Unknown arguments: start-att, startAtt', 'jobs --start-att=2', 'Unknown option --start-att. See --help.'],
    ['Missing command. Run `flotilla --help`.', '', 'Missing command. Run `flotilla --help`.'],
    ['Not enough arguments', 'call', 'Not enough arguments. See --help.'],
    [
      'Not enough non-option arguments: got 0, need at least 1',
      'enrol approve --name Shelf',
      'An argument is missing. Usage: flotilla enrol approve <code>. See --help.',
    ],
    [
      'Not enough non-option arguments: got 1, need at least 2',
      '--json call lamp',
      'An argument is missing. Usage: flotilla call <device> <tool> [arguments..]. See --help.',
    ],
  ])('%s', (message, line, expected) => {
    expect(usageProblem(message, line.split(' '), commands)).toBe(expected);
  });
});
