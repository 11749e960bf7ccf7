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
  it('is another one with another code or board, not with a space after the code', () => {
    expect(approvalOf('board', '123456 ')).toBe(approvalOf('board', '123456'));
    expect(approvalOf('board', '123457')).not.toBe(approvalOf('board', '123456'));
    expect(approvalOf('other', '123456')).not.toBe(approvalOf('board', '123456'));
    expect(approvalOf(undefined, '123456')).not.toBe(approvalOf('board', '123456'));
  });
});
