import { describe, expect, it } from 'vitest';
import { stateChanges } from './state-changes.js';

const status = { audio_speaker: { volume: 70 }, screen: {}, network: { type: 'wifi' }, chip: { temperature: 41.5 } };

describe('changes of a state', () => {
  it('are named by their path, with what was and what is', () => {
    const after = { ...status, audio_speaker: { volume: 30 }, network: {}, screen: { theme: 'dark' } };
    expect(stateChanges(status, after)).toEqual([
      { path: 'audio_speaker.volume', from: 70, to: 30 },
      { path: 'network.type', from: 'wifi', to: null },
      { path: 'screen.theme', from: null, to: 'dark' },
    ]);
  });

  it('are not what only moves by itself', () => {
    expect(stateChanges(status, { ...status, chip: { temperature: 42 } })).toEqual([]);
  });

  it('are everything the first time, up to a bound', () => {
    expect(stateChanges(undefined, { a: 1 })).toEqual([{ path: 'a', from: null, to: 1 }]);
    expect(
      stateChanges(undefined, Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`p${index}`, index]))),
    ).toHaveLength(50);
  });

  it('compare what lies deep as a whole', () => {
    const deep = (value: number) => ({ a: { b: { c: { d: { e: value } } } } });
    expect(stateChanges(deep(1), deep(2))).toEqual([{ path: 'a.b.c.d', from: { e: 1 }, to: { e: 2 } }]);
  });
});
