import { describe, expect, it } from 'vitest';
import { emptyReadback, inputOf, type Policy } from './policy-input';

const policy: Policy = {
  pattern: ' self.set_volume ',
  idempotent: true,
  disruptive: false,
  readOnly: null,
  disconnectExpected: false,
  verification: 'NONE',
  readback: null,
  failureText: null,
  callTimeoutMs: 60_000,
  revision: '',
};
const readback = { ...emptyReadback, path: 'audio.volume', argument: 'volume' };

describe('the input of a tool policy', () => {
  it('has no readback where one was only begun and another verification chosen', () => {
    expect(inputOf({ ...policy, readback: emptyReadback }).readback).toBeNull();
    expect(inputOf({ ...policy, readback: { ...emptyReadback, path: ' ' } }).readback).toBeNull();
  });

  it('keeps a readback that desired states use with another verification', () => {
    expect(inputOf({ ...policy, readback }).readback).toEqual(readback);
    expect(inputOf({ ...policy, readback: { ...readback, argument: '' } }).readback).toMatchObject({ argument: '' });
  });

  it('keeps a readback whose tool alone was entered, so that the hub says what it lacks', () => {
    const begun = { ...emptyReadback, tool: 'self.lamp.get_state' };
    expect(inputOf({ ...policy, readback: begun }).readback).toEqual(begun);
    expect(inputOf({ ...policy, readback: { ...emptyReadback, tool: ' ' } }).readback).toBeNull();
  });

  it('keeps an empty readback of the verification that needs it, so that the hub says so', () => {
    expect(inputOf({ ...policy, verification: 'READBACK', readback: emptyReadback }).readback).toEqual(emptyReadback);
  });
});
