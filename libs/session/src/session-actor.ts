/**
 * One live session: feeds the machine one input at a time and carries out its effects on a transport, a clock and an observer. It decides nothing
 * about the conversation, only about order: nothing overtakes, nothing runs inside something else, nothing comes after the end.
 */
import type { CloseReason, Transport } from '@flotilla/mcp';
import { notSent } from './machine/call-outcomes.js';
import type { Clock } from './clock/clock.js';
import type { Dialect } from './dialect.js';
import { LazyTimer } from './clock/lazy-timer.js';
import type { LargeRequests } from './machine/large-requests.js';
import { initialState, nextWakeAt } from './machine/machine-state.js';
import type { MachineState, SessionRules } from './machine/machine-state.js';
import { readMessage } from './machine/read-message.js';
import type { ArrivedText } from './machine/read-message.js';
import type {
  Session,
  SessionCall,
  SessionLimits,
  SessionObserver,
  SessionState,
  ToolPageCache,
} from './session-contract.js';
import type { SessionEffect, SessionInput, Settle } from './machine/session-input.js';
import { defaultSessionLimits } from './session-limits.js';
import { step } from './machine/session-machine.js';
import { utf8BytesExceed } from './utf8-length.js';

export interface SessionOptions {
  readonly dialect: Dialect;
  /** Not started yet; the session sets its callbacks, starts it and closes it. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly observer: SessionObserver;
  /** From 1 to the dialect's largest id; a random one keeps answers from before a reconnect from matching. */
  readonly firstRequestId: number;
  readonly limits?: Partial<SessionLimits>;
  readonly pageCache?: ToolPageCache;
  /** What the former session of the device ended with. */
  readonly largeRequests?: LargeRequests | undefined;
}

type Settlement = Extract<SessionEffect, { kind: 'settle' }>;

/** What waits its turn. A text is read only then, as what is in flight decides how. */
type MailboxItem = SessionInput | ({ readonly kind: 'text' } & ArrivedText);

/** Order of use: construct, `listen()` where the greeting is to come later, then `start()` once, which greets the device; calls made before `ready` wait. */
export class SessionActor implements Session {
  readonly #rules: SessionRules;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #observer: SessionObserver;
  readonly #pageCache: ToolPageCache | undefined;
  readonly #timer: LazyTimer;
  readonly #mailbox: MailboxItem[] = [];
  /** Calls that ended while `call` was on the stack. */
  #deferred: Settlement[] = [];
  #state: MachineState;
  #isListening = false;
  #isBusy = false;
  #isInsideCall = false;
  #droppedInputs = 0;

  constructor({
    dialect,
    transport,
    clock,
    observer,
    firstRequestId,
    limits,
    pageCache,
    largeRequests,
  }: SessionOptions) {
    this.#rules = {
      dialect,
      limits: limits === undefined ? defaultSessionLimits : { ...defaultSessionLimits, ...limits },
    };
    this.#transport = transport;
    this.#clock = clock;
    this.#observer = observer;
    this.#pageCache = pageCache;
    this.#state = initialState(firstRequestId, largeRequests);
    this.#timer = new LazyTimer(clock, () => this.#wake());
    transport.onmessage = (text) => this.#acceptBounded({ kind: 'text', text, now: clock.now() });
    transport.onclose = (reason) => this.#accept({ kind: 'transportClosed', reason, now: clock.now() });
  }

  get state(): SessionState {
    return this.#state.phase;
  }

  /** For the next session of the device, where the link was lost. */
  get largeRequests(): LargeRequests {
    return this.#state.largeRequests;
  }

  get pendingCalls(): number {
    return this.#state.waiting.length + (this.#state.inFlight?.kind === 'call' ? 1 : 0);
  }

  /** Starts the transport. What the device says unasked is heard before it is greeted. */
  listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#transport.start();
  }

  start(): void {
    this.listen();
    this.#accept({ kind: 'start', now: this.#clock.now() });
  }

  call(call: SessionCall, settle: Settle): void {
    const input: SessionInput = { kind: 'call', call, settle, now: this.#clock.now() };
    if (!this.#isBusy) {
      this.#isInsideCall = true;
      this.#drain(input);
      this.#isInsideCall = false;
    } else if (this.#isMailboxFull()) {
      const outcome = notSent('OVERLOADED', 'The mailbox of the session is full.');
      this.#settleLater({ kind: 'settle', settle, settled: { callId: call.callId, outcome, settledAt: input.now } });
    } else {
      this.#mailbox.push(input);
    }
  }

  refreshTools(): void {
    this.#acceptBounded({ kind: 'refresh', now: this.#clock.now() });
  }

  sendMessage(message: Readonly<Record<string, unknown>>): boolean {
    const { dialect, limits } = this.#rules;
    if (this.#state.phase === 'closing' || this.#state.phase === 'closed') return false;
    const text = dialect.encodeMessage(message);
    return !utf8BytesExceed(text, limits.requestBytesMax) && this.#transport.send(text);
  }

  close(reason: CloseReason): void {
    if (this.#mailbox.some((item) => item.kind === 'close')) return;
    this.#accept({ kind: 'close', reason, now: this.#clock.now() });
  }

  /** Whatever a device or a callback can send without end is dropped when the mailbox is full, counted, and reported with the next input. */
  #acceptBounded(item: MailboxItem): void {
    if (this.#isMailboxFull()) this.#droppedInputs += 1;
    else this.#accept(item);
  }

  #isMailboxFull(): boolean {
    return this.#mailbox.length >= this.#rules.limits.mailboxInputsMax;
  }

  #accept(item: MailboxItem): void {
    if (this.#isBusy) this.#mailbox.push(item);
    else this.#drain(item);
  }

  /** Processes inputs to the end, one at a time, with those that callbacks add meanwhile. Never throws. */
  #drain(first?: MailboxItem): void {
    this.#isBusy = true;
    if (!this.#isInsideCall) this.#settleDeferred();
    for (let item = first ?? this.#mailbox.shift(); item !== undefined; item = this.#mailbox.shift())
      this.#process(item);
    this.#isBusy = false;
    if (this.#state.phase === 'closed') this.#timer.stop();
    else this.#timer.wakeBy(nextWakeAt(this.#state));
  }

  #process(item: MailboxItem): void {
    if (this.#droppedInputs > 0) this.#reportDropped();
    try {
      let input: SessionInput | undefined =
        item.kind === 'text' ? readMessage(this.#state, this.#rules.dialect, this.#pageCache, item) : item;
      while (input !== undefined) {
        const { state, effects } = step(this.#rules, this.#state, input);
        this.#state = state;
        input = this.#perform(effects, item.now);
      }
    } catch (error) {
      this.#giveUp(item.kind, error);
    }
  }

  /** The failure to send a request is the next input, before anything else. */
  #perform(effects: readonly SessionEffect[], now: number): SessionInput | undefined {
    let failed: SessionInput | undefined;
    let sendsToCome = effects.reduce((count, { kind }) => (kind === 'send' ? count + 1 : count), 0);
    for (const effect of effects) {
      if (effect.kind !== 'send') {
        this.#tell(effect);
        continue;
      }
      sendsToCome -= 1;
      if (!this.#send(effect, sendsToCome > 0) && effect.id !== undefined)
        failed = { kind: 'sendFailed', id: effect.id, now };
    }
    return failed;
  }

  #send({ text, proof }: Extract<SessionEffect, { kind: 'send' }>, isMoreToCome: boolean): boolean {
    try {
      const isAccepted = this.#transport.send(text, isMoreToCome || proof !== undefined);
      if (isAccepted && proof !== undefined) this.#transport.send(proof, isMoreToCome);
      return isAccepted;
    } catch (error) {
      this.#giveUp('send', error);
      // What the transport took before it threw is not known: the request stays in flight, and ends with the session.
      return true;
    }
  }

  #tell(effect: Exclude<SessionEffect, { kind: 'send' }>): void {
    try {
      if (effect.kind === 'settle') this.#settle(effect);
      else if (effect.kind === 'closeTransport') this.#transport.close(effect.reason);
      else this.#notify(effect);
    } catch (error) {
      this.#giveUp(effect.kind, error);
    }
  }

  /** An exception is a programmer's error. It ends this session only, and everybody is still told what they are due. */
  #giveUp(where: string, error: unknown): void {
    this.close('hub_closed');
    if (where !== 'anomaly')
      this.#tell({ kind: 'anomaly', anomaly: 'callback_threw', detail: `${where}: ${String(error)}` });
  }

  #notify(effect: Exclude<SessionEffect, { kind: 'send' | 'settle' | 'closeTransport' }>): void {
    const observer = this.#observer;
    switch (effect.kind) {
      case 'stateChanged':
        if (effect.state === 'closed') this.#settleDeferred();
        return observer.onStateChanged(effect.state, effect.reason);
      case 'greeted':
        return observer.onGreeted(effect.info);
      case 'toolsDiscovered':
        return observer.onToolsDiscovered(effect.discovered);
      case 'discoveryFailed':
        return observer.onDiscoveryFailed(effect.message);
      case 'notification':
        return observer.onNotification(effect.method, effect.params);
      case 'deviceMessage':
        return observer.onDeviceMessage(effect.type, effect.message);
      case 'lateOutcome':
        return observer.onLateOutcome(effect.late);
      case 'largeRequests':
        return observer.onLargeRequests(effect.areLost, effect.unanswered);
      case 'anomaly':
        return observer.onAnomaly(effect.anomaly, effect.detail);
    }
  }

  #settle(effect: Settlement): void {
    if (this.#isInsideCall) this.#settleLater(effect);
    else effect.settle(effect.settled);
  }

  /** Keeps the promise that no caller hears of a call's end before `call` returned. */
  #settleLater(effect: Settlement): void {
    this.#deferred.push(effect);
    if (this.#deferred.length === 1) void Promise.resolve().then(() => this.#drain());
  }

  #settleDeferred(): void {
    const due = this.#deferred;
    if (due.length === 0) return;
    this.#deferred = [];
    for (const effect of due) this.#tell(effect);
  }

  #reportDropped(): void {
    const detail = `${this.#droppedInputs} inputs dropped`;
    this.#droppedInputs = 0;
    this.#tell({ kind: 'anomaly', anomaly: 'mailbox_full', detail });
  }

  #wake(): void {
    const now = this.#clock.now();
    if (nextWakeAt(this.#state) <= now) this.#accept({ kind: 'wake', now });
    else this.#timer.wakeBy(nextWakeAt(this.#state));
  }
}
