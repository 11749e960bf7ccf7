import { describe, expect, it } from 'vitest';
import { MessageSeal } from './message-seal.js';

const secret = 'a secret of the hub';
const at = 1_800_000_000_000;

function pair(now = () => at): { readonly here: MessageSeal; readonly there: MessageSeal } {
  return { here: new MessageSeal(secret, 'here', now), there: new MessageSeal(secret, 'there', now) };
}

describe('a message between processes', () => {
  it('arrives unchanged with its sender, for any content', () => {
    const { here, there } = pair();
    for (const text of ['{"a":"é😀"}', '', 'a.b.c', '\n'])
      expect(there.open('calls', here.seal('calls', text))).toEqual({ sender: 'here', text });
  });

  it.each([
    ['{"kind":"call"}', 'unsigned'],
    ['', 'unsigned'],
    [`${'A'.repeat(22)}${at}000.here.{}`, 'wrong_key'],
  ])('is rejected without a valid signature: %s', (message, problem) => {
    expect(pair().there.open('calls', message)).toEqual({ problem });
  });

  it('is rejected with the signature of another key, channel, sender or text', () => {
    const { here, there } = pair();
    const sealed = here.seal('calls', '{"volume":10}');
    const changed = [
      sealed.replace('10', '99'),
      sealed.replace('.here.', '.hers.'),
      new MessageSeal('another', 'here').seal('calls', '{}'),
    ];
    for (const message of changed) expect(there.open('calls', message)).toEqual({ problem: 'wrong_key' });
    expect(there.open('answers', sealed)).toEqual({ problem: 'wrong_key' });
    expect(there.open('calls', sealed)).toMatchObject({ sender: 'here' });
  });

  it('is rejected the second time, and after a newer one of its sender', () => {
    const { here, there } = pair();
    const [first, second] = [here.seal('calls', '1'), here.seal('calls', '2')];
    expect(there.open('calls', second)).toMatchObject({ text: '2' });
    expect(there.open('calls', second)).toEqual({ problem: 'replayed' });
    expect(there.open('calls', first)).toEqual({ problem: 'replayed' });
    expect(there.open('calls', here.seal('calls', '3'))).toMatchObject({ text: '3' });
  });

  it('is rejected by a process that has just started if it was sent long before', () => {
    const old = new MessageSeal(secret, 'here', () => at - 61_000).seal('calls', '{}');
    expect(pair().there.open('calls', old)).toEqual({ problem: 'out_of_time' });
    const fresh = new MessageSeal(secret, 'here', () => at - 59_000).seal('calls', '{}');
    expect(pair().there.open('calls', fresh)).toMatchObject({ text: '{}' });
  });

  it('is recognised as its own by the process that sent it', () => {
    const { here, there } = pair();
    const sealed = here.seal('feed', '{}');
    expect([here.isOwn(sealed), there.isOwn(sealed), here.isOwn('no message')]).toEqual([true, false, false]);
  });

  it('stays in order if a clock is set back', () => {
    let now = at;
    const { here, there } = pair(() => now);
    expect(there.open('calls', here.seal('calls', '1'))).toMatchObject({ text: '1' });
    now -= 5_000;
    expect(there.open('calls', here.seal('calls', '2'))).toMatchObject({ text: '2' });
  });

  it.each([
    ['the sender', { here: 3_600_000, there: 0 }],
    ['the receiver', { here: 0, there: 3_600_000 }],
    ['both', { here: 3_600_000, there: 3_600_000 }],
  ])('arrives again when the clock of %s was an hour ahead for a while', (_whose, ahead) => {
    let isAhead = true;
    const clockOf = (who: 'here' | 'there') => () => at + (isAhead ? ahead[who] : 0);
    const here = new MessageSeal(secret, 'here', clockOf('here'));
    const there = new MessageSeal(secret, 'there', clockOf('there'));
    const early = here.seal('calls', '1');
    there.open('calls', early);
    isAhead = false;
    const sealed = here.seal('calls', '2');
    expect(there.open('calls', sealed)).toMatchObject({ text: '2' });
    expect(there.open('calls', sealed)).toEqual({ problem: 'replayed' });
    expect(there.open('calls', here.seal('calls', '3'))).toMatchObject({ text: '3' });
  });
});
