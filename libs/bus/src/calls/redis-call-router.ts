/**
 * Calls to gateways of other processes: asked on the gateway's channel, answered on ours. Redis tells how many took a message, so that "nobody" is
 * certainly not sent; silence after that may have run. A gateway of this very process is called directly.
 */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { BusError } from '../bus-error.js';
import type { BusLogger } from '../bus-logger.js';
import { gatewayAbsent, gatewaySilent, routerOverloaded } from './call-endings.js';
import type { CallRouter, CallServer, RoutedCall } from './call-router.js';
import { LocalCallRouter } from './local-call-router.js';
import type { RedisLink } from '../redis/redis-link.js';
import { parseAnswer, parseAsk } from '../redis/redis-messages.js';
import type { AnswerMessage, AskMessage, Question } from '../redis/redis-messages.js';

/** Asks that wait for an answer: ten jobs at their largest maxInFlight. Past it calls are refused unsent. */
const PENDING_ASKS_MAX = 100_000;
/** How long an answer may travel after the call's own deadline, which the gateway keeps: without it, its answer would lose the race against us. */
const ANSWER_TRAVEL_MS = 250;
/** A gateway answers what needs no device at once. */
const GATEWAY_ANSWER_MS = 5_000;
/** Longest delay of a Node timer. */
const TIMER_DELAY_MAX_MS = 2 ** 31 - 1;

/** One question out on the wire. Exactly one of the callbacks runs, once. */
interface PendingAsk {
  readonly answered: (answer: AnswerMessage) => void;
  readonly silent: () => void;
  readonly timer: NodeJS.Timeout;
}

export class RedisCallRouter implements CallRouter {
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #logger: BusLogger;
  readonly #local: LocalCallRouter;
  readonly #replyTo: string;
  readonly #pending = new Map<number, PendingAsk>();
  #askCount = 0;

  constructor(link: RedisLink, options: { readonly prefix: string; readonly processKey: string }, logger: BusLogger) {
    this.#link = link;
    this.#prefix = options.prefix;
    this.#logger = logger;
    this.#local = new LocalCallRouter(logger);
    this.#replyTo = `${options.prefix}:answers:${options.processKey}`;
  }

  /** Resolves when answers can arrive. */
  async open(): Promise<void> {
    await this.#link.listen(this.#replyTo, (text) => this.#onAnswer(text));
  }

  async serve(gatewayId: HubProcessId, server: CallServer): Promise<() => Promise<void>> {
    const endLocal = await this.#local.serve(gatewayId, server);
    const endRemote = await this.#link.listen(this.#gatewayChannel(gatewayId), (text) => this.#onAsk(gatewayId, text));
    return async () => {
      await endRemote();
      await endLocal();
    };
  }

  call(gatewayId: HubProcessId, routed: RoutedCall, settle: (settled: SettledCall) => void): void {
    if (this.#local.has(gatewayId)) {
      this.#local.call(gatewayId, routed, settle);
      return;
    }
    if (this.#pending.size >= PENDING_ASKS_MAX) {
      queueMicrotask(() => settle(routerOverloaded(routed, Date.now())));
      return;
    }
    const { queueDeadlineAt, callTimeoutMs, callDeadlineAt } = routed.call;
    const deadlineAt = Math.min(callDeadlineAt ?? Infinity, queueDeadlineAt + callTimeoutMs);
    this.#ask(gatewayId, { kind: 'call', routed }, deadlineAt - Date.now() + ANSWER_TRAVEL_MS, {
      answered: (answer) => settle(answer.kind === 'settled' ? answer.settled : gatewaySilent(routed, Date.now())),
      silent: () => settle(gatewaySilent(routed, Date.now())),
      absent: () => settle(gatewayAbsent(routed, Date.now())),
    });
  }

  refreshTools(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean> {
    if (this.#local.has(gatewayId)) return this.#local.refreshTools(gatewayId, deviceId);
    return this.#askDone(gatewayId, { kind: 'refreshTools', deviceId });
  }

  disconnect(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean> {
    if (this.#local.has(gatewayId)) return this.#local.disconnect(gatewayId, deviceId);
    return this.#askDone(gatewayId, { kind: 'disconnect', deviceId });
  }

  /** Ends what still waits as unanswered. */
  close(): void {
    for (const [askId, ask] of this.#pending) {
      this.#forget(askId);
      ask.silent();
    }
  }

  #askDone(gatewayId: HubProcessId, question: Question): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#ask(gatewayId, question, GATEWAY_ANSWER_MS, {
        answered: (answer) => resolve(answer.kind === 'done' && answer.isDone),
        silent: () => reject(new BusError('GATEWAY_UNREACHABLE', `Gateway ${gatewayId} took a request and did not answer.`)),
        absent: () => resolve(false),
      });
    });
  }

  #ask(
    gatewayId: HubProcessId,
    question: Question,
    waitMs: number,
    ends: Omit<PendingAsk, 'timer'> & { readonly absent: () => void },
  ): void {
    if (!this.#link.isReady) {
      queueMicrotask(ends.absent);
      return;
    }
    this.#askCount += 1;
    const askId = this.#askCount;
    const timer = setTimeout(() => this.#take(askId)?.silent(), Math.min(Math.max(waitMs, 0), TIMER_DELAY_MAX_MS));
    this.#pending.set(askId, { answered: ends.answered, silent: ends.silent, timer });
    const message: AskMessage = { ...question, askId, replyTo: this.#replyTo };
    this.#link.commands.publish(this.#gatewayChannel(gatewayId), JSON.stringify(message)).then(
      (takers) => {
        if (takers === 0 && this.#forget(askId)) ends.absent();
      },
      // The connection broke with the message on it: it may have arrived, so only the answer or the deadline can end it.
      (error: unknown) => this.#logger.warn({ err: error, gatewayId }, 'could not tell whether a gateway took a call'),
    );
  }

  #onAsk(gatewayId: HubProcessId, text: string): void {
    this.#guard(() => {
      const ask = parseAsk(text);
      if (ask.kind === 'call') {
        this.#local.call(gatewayId, ask.routed, (settled) => this.#answer(ask, { kind: 'settled', askId: ask.askId, settled }));
        return;
      }
      const act = ask.kind === 'disconnect' ? this.#local.disconnect : this.#local.refreshTools;
      void act.call(this.#local, gatewayId, ask.deviceId).then((isDone) => this.#answer(ask, { kind: 'done', askId: ask.askId, isDone }));
    });
  }

  #answer(ask: AskMessage, answer: AnswerMessage): void {
    this.#link.commands.publish(ask.replyTo, JSON.stringify(answer)).catch((error: unknown) => {
      this.#logger.warn({ err: error, replyTo: ask.replyTo }, 'could not answer another hub process; its deadline will');
    });
  }

  #onAnswer(text: string): void {
    this.#guard(() => {
      const answer = parseAnswer(text);
      this.#take(answer.askId)?.answered(answer);
    });
  }

  #take(askId: number): PendingAsk | undefined {
    const ask = this.#pending.get(askId);
    this.#forget(askId);
    return ask;
  }

  #forget(askId: number): boolean {
    clearTimeout(this.#pending.get(askId)?.timer);
    return this.#pending.delete(askId);
  }

  /** A bad message is logged and dropped: it never takes the connection down. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#logger.error({ err: error }, 'could not use a message of another hub process');
    }
  }

  #gatewayChannel(gatewayId: HubProcessId): string {
    return `${this.#prefix}:gateway:${gatewayId}`;
  }
}
