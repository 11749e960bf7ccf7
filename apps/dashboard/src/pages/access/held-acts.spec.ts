import { describe, expect, it } from 'vitest';
import { isHeld, offeredActs } from './held-acts';

describe('the acts on a person', () => {
  it('are all offered for another person', () => {
    const acts = offeredActs(false);
    expect(acts).toEqual(['reset', 'signOut', 'switch', 'remove']);
    expect(acts.filter((act) => isHeld(act, false))).toEqual([]);
  });

  it('leave out the reset of the own password, whose page would close before it shows the new one', () => {
    expect(offeredActs(true)).toEqual(['signOut', 'switch', 'remove']);
  });

  it('hold the end of the last admin, and begin with one that can be chosen', () => {
    for (const isSelf of [false, true]) {
      const acts = offeredActs(isSelf);
      expect(acts.filter((act) => isHeld(act, true))).toEqual(['switch', 'remove']);
      expect(acts.slice(0, 1).filter((act) => isHeld(act, true))).toEqual([]);
    }
  });
});
