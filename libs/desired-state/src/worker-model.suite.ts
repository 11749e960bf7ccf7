/**
 * A model of the worker of desired states, and of devices, people and crashes. It sends as the
 * worker does: it reads before it decides, claims one set per device, and forgets what was under
 * way in a crash.
 */
import { expect } from 'vitest';
import { decide } from './decide.js';
import { abandonTry, endTry, startTry } from './end-try.js';
import { NOW, wantedOf } from './entry.suite.js';
import { dueAtOf } from './entry.js';
import type { Entry, Facts, LookCause, Wanted } from './entry.js';
import { blocksOf } from './precedence.js';

const MINUTE = 60_000;
export const DEVICES = 2;
/** Two desired states set the first property, one sets the second. */
export const PROPERTIES = [0, 0, 1] as const;

export type Step =
  | { readonly kind: 'turn'; readonly device: number; readonly property: number; readonly value: number }
  | { readonly kind: 'edit'; readonly state: number; readonly desired: number }
  | { readonly kind: 'toggle'; readonly state: number }
  | { readonly kind: 'presence'; readonly device: number }
  | { readonly kind: 'pass'; readonly minutes: number }
  | { readonly kind: 'look'; readonly device: number }
  | { readonly kind: 'end'; readonly device: number; readonly how: 'answered' | 'refused' | 'lost' | 'unsent' }
  | { readonly kind: 'crash'; readonly hasEffect: boolean };

interface Device {
  isOnline: boolean;
  readonly values: number[];
  /** The set under way. */
  flight: { readonly state: number; readonly value: number } | undefined;
}

export class Model {
  now = NOW;
  readonly devices: Device[] = Array.from({ length: DEVICES }, () => ({
    isOnline: true,
    values: [0, 0],
    flight: undefined,
  }));
  readonly wanted: Wanted[];
  readonly enabled = PROPERTIES.map(() => true);
  readonly entries = new Map<string, Entry>();
  /** When a person last changed a value that was in sync; forgotten with each edit. */
  readonly held = new Map<string, number>();

  constructor(rules: readonly Pick<Wanted, 'onDrift' | 'priority' | 'window'>[]) {
    this.wanted = PROPERTIES.map((_, index) =>
      wantedOf({ id: String(index), desired: 10 + index, holdSeconds: 600, ...rules[index] }),
    );
  }

  do(step: Step): void {
    switch (step.kind) {
      case 'turn':
        return this.turn(step.device, step.property, step.value);
      case 'edit':
        return this.edit(step.state, (wanted) => ({ ...wanted, desired: step.desired }));
      case 'toggle':
        return this.toggle(step.state);
      case 'presence':
        return this.presence(step.device);
      case 'pass':
        return this.pass(step.minutes);
      case 'look':
        return this.look(step.device, 'CHANGE');
      case 'end':
        return this.end(step.device, step.how);
      case 'crash':
        return this.crash(step.hasEffect);
    }
  }

  turn(device: number, property: number, value: number): void {
    const here = this.at(device);
    if (here.values[property] === value) return;
    here.values[property] = value;
    this.look(device, 'CHANGE');
  }

  edit(state: number, change: (wanted: Wanted) => Wanted): void {
    const before = this.wantedAt(state);
    this.wanted[state] = { ...change(before), generation: before.generation + 1 };
    this.lookAtAll('CHANGE');
  }

  toggle(state: number): void {
    this.enabled[state] = this.enabled[state] === false;
    for (const device of this.devices.keys()) {
      this.entries.delete(`${state} ${device}`);
      this.held.delete(`${state} ${device}`);
    }
    this.lookAtAll('CHANGE');
  }

  presence(device: number): void {
    const here = this.at(device);
    here.isOnline = !here.isOnline;
    if (!here.isOnline && here.flight !== undefined) this.end(device, 'lost');
    this.look(device, here.isOnline ? 'READY' : 'CHANGE');
  }

  /** Each entry that is due is looked at; each device once an hour. */
  pass(minutes: number): void {
    for (let minute = 0; minute < minutes; minute += 1) {
      this.now += MINUTE;
      for (const device of this.devices.keys()) {
        const isDue = this.entriesOf(device).some(([, entry]) => (dueAtOf(entry) ?? Infinity) <= this.now);
        if ((this.now - NOW) % (60 * MINUTE) === 0) this.look(device, 'SWEEP');
        else if (isDue) this.look(device, 'CHANGE');
      }
    }
  }

  /** The process dies. The set under way had its effect or not; its entry is taken over. */
  crash(hasEffect: boolean): void {
    for (const [device, here] of this.devices.entries()) {
      if (here.flight !== undefined && hasEffect) this.apply(device, here.flight);
      here.flight = undefined;
      for (const [key, entry] of this.entriesOf(device)) if (entry.isSending) this.entries.set(key, abandonTry(entry));
    }
    this.lookAtAll('CHANGE');
  }

  end(device: number, how: 'answered' | 'refused' | 'lost' | 'unsent'): void {
    const here = this.at(device);
    const { flight } = here;
    if (flight === undefined) return;
    here.flight = undefined;
    if (how === 'answered' || (how === 'lost' && flight.value % 2 === 0)) this.apply(device, flight);
    const key = `${flight.state} ${device}`;
    const entry = this.entries.get(key);
    if (entry?.isSending === true && this.enabled[flight.state] === true) {
      const error = { code: 'DEVICE_ERROR', message: '' } as const;
      const end =
        how === 'answered' || (how === 'lost' && here.isOnline)
          ? ({ kind: 'READ' } as const)
          : ({ kind: 'FAILED', error, isSent: how !== 'unsent' } as const);
      const facts = this.facts(device, flight.state, 'CHANGE');
      this.store(key, endTry(this.wantedAt(flight.state), entry, end, facts, { now: this.now, chance: 0.5 }).entry);
    }
    this.look(device, 'CHANGE');
  }

  look(device: number, cause: LookCause): void {
    for (const state of PROPERTIES.keys()) {
      if (this.enabled[state] !== true) continue;
      const key = `${state} ${device}`;
      const wanted = this.wantedAt(state);
      const { entry, next } = decide(wanted, this.entries.get(key), this.facts(device, state, cause), this.now);
      this.store(key, entry);
      if (next === 'set') this.send(device, state, entry);
    }
  }

  settle(): void {
    for (const here of this.devices.keys()) {
      if (!this.at(here).isOnline) this.presence(here);
      this.end(here, 'answered');
    }
    for (let minute = 0; minute < 5 * 60; minute += 1) {
      this.pass(1);
      for (const device of this.devices.keys()) this.end(device, 'answered');
    }
  }

  facts(device: number, state: number, cause: LookCause): Facts {
    const { isOnline, values } = this.at(device);
    const wanted = this.wantedAt(state);
    const contenders = this.wanted.filter(
      (_, index) => this.enabled[index] === true && PROPERTIES[index] === PROPERTIES[state],
    );
    const blocks = blocksOf(
      contenders.map((each) => ({ wanted: each, unsupported: undefined })),
      'UTC',
      this.now,
    );
    const value = { value: values[PROPERTIES[state] ?? 0], at: this.now };
    return { isOnline, value, freshSince: this.now, block: blocks.get(wanted.id), edgeAt: undefined, cause };
  }

  /** The claim of the worker, and what must hold whenever it sends. */
  send(device: number, state: number, entry: Entry): void {
    const here = this.at(device);
    if (here.flight !== undefined) return;
    const wanted = this.wantedAt(state);
    const rivals = this.wanted.filter(
      (other, index) =>
        index !== state &&
        this.enabled[index] === true &&
        PROPERTIES[index] === PROPERTIES[state] &&
        other.priority >= wanted.priority &&
        other.desired !== wanted.desired,
    );
    expect(rivals, 'precedence').toEqual([]);
    expect(here.isOnline, 'online').toBe(true);
    expect(here.values[PROPERTIES[state] ?? 0], 'no set for a device in sync').not.toBe(wanted.desired);
    const changedAt = this.held.get(`${state} ${device}`);
    if (changedAt !== undefined && wanted.onDrift === 'HOLD')
      expect(this.now - changedAt, 'HOLD').toBeGreaterThanOrEqual(wanted.holdSeconds * 1_000);
    expect(
      this.entriesOf(device).filter(([, { isSending }]) => isSending),
      'one set',
    ).toEqual([]);
    here.flight = { state, value: wanted.desired as number };
    this.store(`${state} ${device}`, startTry(wanted, entry, this.now));
  }

  /** Remembers, independently of the entry, since when a person's change is to be left alone. */
  store(key: string, entry: Entry): void {
    const before = this.entries.get(key);
    const isDrift = before?.state === 'IN_SYNC' && entry.state === 'HELD';
    if (isDrift) this.held.set(key, this.now);
    else if (entry.state !== 'HELD' && entry.state !== 'APPLYING') this.held.delete(key);
    else if (before !== undefined && before.observedGeneration !== entry.observedGeneration) this.held.delete(key);
    this.entries.set(key, entry);
  }

  apply(device: number, { state, value }: NonNullable<Device['flight']>): void {
    this.at(device).values[PROPERTIES[state] ?? 0] = value;
  }

  lookAtAll(cause: LookCause): void {
    for (const device of this.devices.keys()) this.look(device, cause);
  }

  entriesOf(device: number): readonly (readonly [string, Entry])[] {
    return [...this.entries].filter(([key]) => key.endsWith(` ${device}`));
  }

  at(device: number): Device {
    const here = this.devices[device];
    if (here === undefined) throw new TypeError('No such device.');
    return here;
  }

  wantedAt(state: number): Wanted {
    const wanted = this.wanted[state];
    if (wanted === undefined) throw new TypeError('No such desired state.');
    return wanted;
  }
}
