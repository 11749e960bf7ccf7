import { describe, expect, it } from 'vitest';
import { approvalOf, asksToConfirm } from './confirmation';

describe('a refused approval', () => {
  it('asks to confirm that it replaces a device that is online', () => {
    expect(asksToConfirm([{ code: 'CONFLICT', path: ['confirm'] }])).toBe(true);
  });

  it('does not ask for it where the board is blocked, or the code is unknown', () => {
    expect(asksToConfirm([{ code: 'CONFLICT', path: ['code'] }])).toBe(false);
    expect(asksToConfirm([{ code: 'NOT_FOUND', path: ['code'] }])).toBe(false);
    expect(asksToConfirm([])).toBe(false);
  });
});

describe('an approval', () => {
  const approval = (boardId: string | undefined, code: string) => approvalOf({ boardId, code });

  it('is another one with another typed code or chosen board, not with a space after the code', () => {
    expect(approval('board', '123456 ')).toBe(approval('board', '123456'));
    expect(approval('board', '123457')).not.toBe(approval('board', '123456'));
    expect(approval('other', '')).not.toBe(approval('board', ''));
  });
});
