import { describe, expect, it } from 'vitest';
import { chosenBoard } from './chosen-board';

const lamp = { id: '1', code: '111111', replaces: false };
const hidden = { id: '2', code: null, replaces: false };

describe('the board that is approved', () => {
  it('is the chosen one, as the list has it now', () => {
    const now = { ...lamp, replaces: true };
    expect(chosenBoard([now], lamp, '')).toEqual({ board: now, code: '111111' });
    expect(chosenBoard([hidden], hidden, '')).toEqual({ board: hidden, code: '' });
  });

  it('keeps its code when the list loses it', () => {
    expect(chosenBoard([], lamp, '')).toEqual({ board: lamp, code: '111111' });
  });

  it('is the one of the typed code, also when the list gets it later', () => {
    expect(chosenBoard([], undefined, ' 111111 ')).toEqual({ board: undefined, code: '111111' });
    expect(chosenBoard([lamp], undefined, ' 111111 ')).toEqual({ board: lamp, code: '111111' });
  });

  it('is the chosen one with a typed code, unless its own code is another', () => {
    expect(chosenBoard([lamp, hidden], hidden, '222222')).toEqual({ board: hidden, code: '222222' });
    expect(chosenBoard([lamp], lamp, '222222')).toEqual({ board: undefined, code: '222222' });
  });
});
