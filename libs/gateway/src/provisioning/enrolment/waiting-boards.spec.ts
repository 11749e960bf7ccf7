import { describe, expect, it } from 'vitest';
import { WaitingBoards } from './waiting-boards.js';

const asked = (network: string, challenge = 'c') => ({ challenge, network });

describe('boards that wait', () => {
  it('are new once for each challenge', () => {
    const boards = new WaitingBoards(10);
    expect([boards.note('a', asked('n')), boards.note('a', asked('n')), boards.note('a', asked('n', 'other'))]).toEqual(
      [true, false, true],
    );
  });

  it('are not evicted by a flood from another network', () => {
    const boards = new WaitingBoards(100);
    boards.note('victim', asked('192.0.2.1'));
    for (let board = 0; board < 1_000; board += 1) boards.note(`flood-${board}`, asked('198.51.100.1'));
    expect([boards.has('victim'), boards.has('flood-900'), boards.has('flood-901'), boards.has('flood-999')]).toEqual([
      ...[true, false, true, true],
    ]);
  });

  it('go by the last request within one network', () => {
    const boards = new WaitingBoards(2);
    for (const board of ['a', 'b', 'a', 'c']) boards.note(board, asked('n'));
    expect([boards.has('a'), boards.has('b'), boards.has('c')]).toEqual([true, false, true]);
  });

  it('may come by another network and count there', () => {
    const boards = new WaitingBoards(3);
    for (const network of ['n', 'm']) boards.note('a', asked(network));
    for (const board of ['b', 'c', 'd']) boards.note(board, asked('n'));
    expect([boards.has('a'), boards.has('b')]).toEqual([true, false]);
  });
});
