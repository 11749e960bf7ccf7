import { describe, expect, it } from 'vitest';
import { commands } from '../program.js';
import { completedOf } from './complete-words.js';

const completed = (...words: string[]) => completedOf(commands, words);

describe('the word that is completed', () => {
  it.each([
    [['call', '02:'], 'device', []],
    [['call', '02:00', 'self.'], 'tool', ['02:00']],
    [['jobs', 'create', ''], 'tool', []],
    [['jobs', 'pause', ''], 'job', []],
    [['firmware', 'roll-out', ''], 'image', []],
    [['jobs', 'create', 'self.reboot', '--device', '02'], 'device', ['self.reboot']],
    [['devices', 'show', '--json', ''], 'device', []],
    [['devices', 'show', '--columns', 'id', ''], 'device', []],
    [['devices', 'show', '-o', 'json', ''], 'device', []],
    [['--output', 'json', 'devices', 'show', ''], 'device', []],
    [['devices', 'show', '--columns=id', ''], 'device', []],
    [['call', '--timeout', '5s', '02:00', 'self.'], 'tool', ['02:00']],
    [['jobs', 'create', '--tag', 'shop', '--dry-run', ''], 'tool', []],
    [['devices', 'edit', '--name', 'Lobby', ''], 'device', []],
  ])('%j is a %s', (words, value, positionals) => {
    expect(completed(...words)).toMatchObject({ value, positionals, current: words.at(-1) });
  });

  it.each([
    [['jo']],
    [['jobs', 'p']],
    [['call', '02:00', 'self.x', 'volume=']],
    [['call', '--ti']],
    [['groups', 'edit', '']],
    [['devices', 'edit', '--name', '']],
    [['devices', 'show', '--columns', '']],
    [['devices', 'show', '-o', '']],
  ])('%j is completed without the hub', (words) => expect(completed(...words)).toBeUndefined());

  it('is asked of the hub that the line names', () => {
    expect(completed('--profile', 'shop', 'call', '--url', 'http://other', '02')).toMatchObject({
      value: 'device',
      connection: { profile: 'shop', url: 'http://other' },
    });
    expect(completed('--profile=lab', 'call', '--url=http://other?a=b', '02')).toMatchObject({
      value: 'device',
      connection: { profile: 'lab', url: 'http://other?a=b' },
    });
  });
});
