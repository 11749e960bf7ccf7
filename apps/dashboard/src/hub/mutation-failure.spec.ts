import { describe, expect, it } from 'vitest';
import { failureOf, refusalOf } from './mutation-failure';

describe('the failure of a change', () => {
  it('changed nothing if the hub refused it', () => {
    const refusals = [{ code: 'CONFLICT', message: 'It has another revision.' }];
    expect(refusalOf(refusals)).toEqual({
      messages: ['It has another revision.'],
      codes: ['CONFLICT'],
      isUncertain: false,
    });
    expect(failureOf(refusals).isUncertain).toBe(false);
  });

  it('changed nothing if a part of the hub was away before anything was sent', () => {
    expect(refusalOf([{ code: 'UNAVAILABLE', message: 'Nothing was sent.' }]).isUncertain).toBe(false);
  });

  it('may have changed something without an answer, or if the hub failed while it worked', () => {
    expect(failureOf([]).isUncertain).toBe(true);
    for (const code of ['INTERNAL', 'UNAVAILABLE'])
      expect(failureOf([{ code, message: 'The hub failed.' }]).isUncertain, code).toBe(true);
  });
});
