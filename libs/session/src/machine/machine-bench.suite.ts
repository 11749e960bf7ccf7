/** Drives a session machine with texts of a device and records its effects, for specs. */
import type { CallId } from '@flotilla/mcp';
import { initialState } from './machine-state.js';
import type { SessionCall, SettledCall } from '../session-contract.js';
import type { SessionEffect, SessionInput } from './session-input.js';
import { defaultSessionLimits } from '../session-limits.js';
import { step } from './session-machine.js';
import { XiaozhiDialect } from '../xiaozhi/xiaozhi-dialect.js';

type Timeless<Input> = Input extends unknown ? Omit<Input, 'now'> : never;

export const noTools = '"result":{"tools":[]}';

export class MachineBench {
  readonly rules;
  readonly effects: SessionEffect[] = [];
  readonly settled: SettledCall[] = [];
  state;
  now = 0;

  constructor(limits: Partial<typeof defaultSessionLimits> = {}, firstRequestId = 1) {
    this.rules = { dialect: new XiaozhiDialect(), limits: { ...defaultSessionLimits, ...limits } };
    this.state = initialState(firstRequestId);
  }

  put(input: Timeless<SessionInput>): readonly SessionEffect[] {
    const { state, effects } = step(this.rules, this.state, { ...input, now: this.now } as SessionInput);
    this.state = state;
    this.effects.push(...effects);
    for (const effect of effects) if (effect.kind === 'settle') effect.settle(effect.settled);
    return effects;
  }

  /** Receives an MCP payload with the given members, by default for the id in flight. */
  answer(members: string, id = this.state.inFlight?.id) {
    return this.text(`{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},${members}}}`);
  }

  text(text: string) {
    return this.put({ kind: 'message', message: this.rules.dialect.read(text) });
  }

  call(callId: string, change: Partial<SessionCall> = {}) {
    const call = {
      callId: callId as CallId,
      tool: 't',
      arguments: {},
      queueDeadlineAt: this.now + 5000,
      callTimeoutMs: 30_000,
      ...change,
    };
    return this.put({ kind: 'call', call, settle: (settled) => this.settled.push(settled) });
  }

  pass(ms: number) {
    this.now += ms;
    return this.put({ kind: 'wake' });
  }

  makeReady(listing = noTools): this {
    this.put({ kind: 'start' });
    this.answer('"result":{"serverInfo":{"name":"b","version":"1"}}');
    this.answer(listing);
    return this;
  }

  sent(): { method: string; id?: number; params?: Record<string, unknown> }[] {
    return this.effects.filter((effect) => effect.kind === 'send').map(({ text }) => JSON.parse(text).payload);
  }

  outcomes() {
    return this.settled.map(({ callId, outcome }) => [callId, outcome.kind, outcome.error?.code, outcome.certainty]);
  }

  kinds(kind: SessionEffect['kind']) {
    return this.effects.filter((effect) => effect.kind === kind);
  }

  anomalies() {
    return this.effects.filter((effect) => effect.kind === 'anomaly').map(({ anomaly }) => anomaly);
  }
}
