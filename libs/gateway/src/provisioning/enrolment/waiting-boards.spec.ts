import { describe, expect, it } from 'vitest';
import { WaitingBoards } from './waiting-boards.js';

const asked = (network: string, challenge = 'c') => ({ challenge, network });

describe('boards that wait for approval', () => {
  it('are new once for each challenge', () => {
    const boards = new WaitingBoards(10);
    expect([
      boards.record('a', asked('n')),
      boards.record('a', asked('n')),
      boards.record('a', asked('n', 'other')),
    ]).toEqual([true, false, true]);
  });

  it('are not evicted by a flood from another network', () => {
    const boards = new WaitingBoards(100);
    boards.record('victim', asked('192.0.2.1'));
    for (let board = 0; board < 1_000; board += 1) boards.record(`flood-${board}`, asked('198.51.100.1'));
    expect([boards.has('victim'), boards.has('flood-900'), boards.has('flood-901'), boards.has('flood-999')]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('are evicted by the time of their last request within one network', () => {
    const boards = new WaitingBoards(2);
    for (const board of ['a', 'b', 'a', 'c']) boards.record(board, asked('n'));
    expect([boards.has('a'), boards.has('b'), boards.has('c')]).toEqual([true, false, true]);
  });

  it('may move to another network and count there', () => {
    const boards = new WaitingBoards(3);
    for (const network of ['n', 'm']) boards.record('a', asked(network));
    for (const board of ['b', 'c', 'd']) boards.record(board, asked('n'));
    expect([boards.has('a'), boards.has('b')]).toEqual([true, false]);
  });
});
