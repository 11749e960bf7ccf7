import { describe, expect, it } from 'vitest';
import { keptAnswer } from './kept-answer';

const good = { key: 1, data: 'devices' };

describe('the last good answer', () => {
  it('stays while reads of the same request fail, also with half an answer', () => {
    expect(keptAnswer(good, { key: 1, data: undefined, hasFailed: true })).toBe('devices');
    expect(keptAnswer(good, { key: 1, data: null, hasFailed: true })).toBe('devices');
    expect(keptAnswer(good, { key: 1, data: 'dev', hasFailed: true })).toBe('devices');
  });

  it('gives way to the next good answer', () => {
    expect(keptAnswer(good, { key: 1, data: 'more devices', hasFailed: false })).toBe('more devices');
  });

  it('is not shown for other variables whose read fails', () => {
    expect(keptAnswer(good, { key: 2, data: undefined, hasFailed: true })).toBeUndefined();
  });

  it('is not there where none was: then half an answer is shown', () => {
    expect(keptAnswer(undefined, { key: 1, data: 'dev', hasFailed: true })).toBe('dev');
    expect(keptAnswer<string>(undefined, { key: 1, data: null, hasFailed: true })).toBeUndefined();
  });
});
