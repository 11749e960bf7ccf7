/**
 * One live session: feeds the machine one input at a time and carries out its effects on a
 * transport, a clock and an observer. It decides only the order: inputs do not overtake each other,
 * do not nest, and end with the session.
 */
import { notSent } from '@flotilla/mcp';
import type { CloseReason, Transport } from '@flotilla/mcp';
import type { Clock } from './clock/clock.js';
import type { Dialect } from './dialect.js';
import { LazyTimer } from './clock/lazy-timer.js';
import type { LargeRequests } from './machine/machine-state.js';
import { initialState, nextWakeAt } from './machine/machine-state.js';
import type { MachineState, SessionRules } from './machine/machine-state.js';
import { notifyObserver } from './notify-observer.js';
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
import { tappedTransport } from './tapped-transport.js';
import type { MessageTap } from './tapped-transport.js';

interface SessionOptions {
  readonly dialect: Dialect;
  /** Not started yet; the session sets its callbacks, starts it and closes it. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly observer: SessionObserver;
  /**
   * From 1 to the dialect's maximum, random so that answers from before a reconnect do not match.
   */
  readonly firstRequestId: number;
  readonly limits?: Partial<SessionLimits>;
  readonly pageCache?: ToolPageCache;
  /** The state at the end of the device's former session. */
  readonly largeRequests?: LargeRequests | undefined;
}

type Settlement = Extract<SessionEffect, { kind: 'settle' }>;

/** An input in the queue. A text is parsed later: the request in flight decides how. */
type MailboxItem = SessionInput | ({ readonly kind: 'text' } & ArrivedText);

/**
 * Order of use: construct, optionally `listen()`, then `start()` once, which sends the greeting.
 * Calls made before `ready` wait.
 */
export class SessionActor implements Session {
  readonly #rules: SessionRules;
  readonly #wire: Transport;
  /** The wire, or a view of it that passes each message to a tap. */
  #transport: Transport;
  readonly #clock: Clock;
  readonly #observer: SessionObserver;
  readonly #pageCache: ToolPageCache | undefined;
  readonly #timer: LazyTimer;
  readonly #mailbox: MailboxItem[] = [];
  /** Calls that were settled while `enqueue` was on the stack. */
  #deferred: Settlement[] = [];
  #state: MachineState;
  #isListening = false;
  #isBusy = false;
  #isInsideEnqueue = false;
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
    this.#wire = transport;
    this.#transport = transport;
    this.#clock = clock;
    this.#observer = observer;
    this.#pageCache = pageCache;
    this.#state = initialState(firstRequestId, largeRequests);
    this.#timer = new LazyTimer(clock, (now) => this.#wake(now));
    transport.onmessage = this.#receive;
    transport.onclose = (reason) => this.#accept({ kind: 'transportClosed', reason, now: clock.now() });
  }

  get state(): SessionState {
    return this.#state.phase;
  }

  /** For the next session of the device, after a lost connection. */
  get largeRequests(): LargeRequests {
    return this.#state.largeRequests;
  }

  get pendingCalls(): number {
    return this.#state.waiting.length + (this.#state.inFlight?.kind === 'call' ? 1 : 0);
  }

  /**
   * Passes each message of the connection to `tap`, which must not throw; undefined ends this.
   * Without a tap, messages take their usual path at no cost.
   */
  tap(tap: MessageTap | undefined): void {
    this.#transport = tap === undefined ? this.#wire : tappedTransport(this.#wire, tap);
    this.#wire.onmessage =
      tap === undefined
        ? this.#receive
        : (text) => {
            tap('RECEIVED', text);
            this.#receive(text);
          };
  }

  /** Starts the transport. Receives messages of the device before the greeting. */
  listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#transport.start();
  }

  start(): void {
    this.listen();
    this.#accept({ kind: 'start', now: this.#clock.now() });
  }

  enqueue(call: SessionCall, settle: Settle): void {
    const input: SessionInput = { kind: 'call', call, settle, now: this.#clock.now() };
    if (!this.#isBusy) {
      this.#isInsideEnqueue = true;
      this.#drain(input);
      this.#isInsideEnqueue = false;
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

  readonly #receive = (text: string): void => this.#acceptBounded({ kind: 'text', text, now: this.#clock.now() });

  /**
   * Drops inputs that devices or callbacks can repeat without limit when the mailbox is full; they
   * are counted and reported.
   */
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

  /** Processes inputs one at a time, including those that callbacks add. Never throws. */
  #drain(first?: MailboxItem): void {
    this.#isBusy = true;
    if (!this.#isInsideEnqueue) this.#settleDeferred();
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
      this.#endAfterException(item.kind, error);
    }
  }

  /** Returns a failure to send a request, which becomes the next input. */
  #perform(effects: readonly SessionEffect[], now: number): SessionInput | undefined {
    let failed: SessionInput | undefined;
    let sendsToCome = effects.reduce((count, { kind }) => (kind === 'send' ? count + 1 : count), 0);
    for (const effect of effects) {
      if (effect.kind !== 'send') {
        this.#carryOut(effect);
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
      this.#endAfterException('send', error);
      // The transport may have sent the bytes before it threw: the request stays in flight and ends
      // with the session.
      return true;
    }
  }

  #carryOut(effect: Exclude<SessionEffect, { kind: 'send' }>): void {
    try {
      if (effect.kind === 'settle') this.#settle(effect);
      else if (effect.kind === 'closeTransport') this.#transport.close(effect.reason);
      else {
        if (effect.kind === 'stateChanged' && effect.state === 'closed') this.#settleDeferred();
        notifyObserver(this.#observer, effect);
      }
    } catch (error) {
      this.#endAfterException(effect.kind, error);
    }
  }

  /** An exception is a programming error. It ends this session, and all calls are settled. */
  #endAfterException(where: string, error: unknown): void {
    this.close('hub_closed');
    if (where !== 'anomaly')
      this.#carryOut({ kind: 'anomaly', anomaly: 'callback_threw', detail: `${where}: ${String(error)}` });
  }

  #settle(effect: Settlement): void {
    if (this.#isInsideEnqueue) this.#settleLater(effect);
    else effect.settle(effect.settled);
  }

  /** Ensures that a call is not settled before `enqueue` has returned. */
  #settleLater(effect: Settlement): void {
    this.#deferred.push(effect);
    if (this.#deferred.length === 1) void Promise.resolve().then(() => this.#drain());
  }

  #settleDeferred(): void {
    const due = this.#deferred;
    if (due.length === 0) return;
    this.#deferred = [];
    for (const effect of due) this.#carryOut(effect);
  }

  #reportDropped(): void {
    const detail = `${this.#droppedInputs} inputs dropped`;
    this.#droppedInputs = 0;
    this.#carryOut({ kind: 'anomaly', anomaly: 'mailbox_full', detail });
  }

  #wake(now: number): void {
    if (nextWakeAt(this.#state) <= now) this.#accept({ kind: 'wake', now });
    else this.#timer.wakeBy(nextWakeAt(this.#state));
  }
}
