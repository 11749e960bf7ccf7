import { describe, expect, it } from 'vitest';
import { isHeld, personActs } from './held-acts';

const heldFor = (isSelf: boolean, isLastAdmin: boolean) =>
  personActs.filter((act) => isHeld(act, { isSelf, isLastAdmin }));

describe('the acts that are not offered', () => {
  it('do not exist for another person who is not the last admin', () => {
    expect(heldFor(false, false)).toEqual([]);
  });

  it('include the reset of the own password, whose page would close before it shows the new one', () => {
    expect(heldFor(true, false)).toEqual(['reset']);
  });

  it('include the end of the last admin', () => {
    expect(heldFor(false, true)).toEqual(['switch', 'remove']);
    expect(heldFor(true, true)).toEqual(['reset', 'switch', 'remove']);
  });
});
