/**
 * Delivers calls to gateways of other processes: requests on the gateway's channel, replies on
 * ours. Redis returns the number of receivers: none means certainly not sent; silence after that
 * may have run. A gateway of this process is called directly.
 */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { BusError } from '../bus-error.js';
import type { BusLogger } from '../bus-logger.js';
import {
  gatewayAbsent,
  gatewayGone,
  gatewayRefused,
  gatewaySilent,
  redisAway,
  routerOverloaded,
} from './call-endings.js';
import type { CallRouter, CallServer, RoutedCall } from './call-router.js';
import { LateReplies } from './late-replies.js';
import { LocalCallRouter } from './local-call-router.js';
import type { RedisLink } from '../redis/redis-link.js';
import { parseAnswer, parseAsk } from '../redis/redis-messages.js';
import type { AnswerMessage, AskMessage, Question } from '../redis/redis-messages.js';

/**
 * Pending requests: ten jobs at their largest maxInFlight. Beyond this, calls are rejected unsent.
 */
const PENDING_ASKS_MAX = 100_000;
/**
 * The time for a reply after the call's deadline, at which the gateway settles it; otherwise the
 * reply would arrive too late.
 */
const ANSWER_TRAVEL_MS = 250;
/** A gateway answers requests without a device at once. */
const GATEWAY_ANSWER_MS = 5_000;
/** Longest delay of a Node timer. */
const TIMER_DELAY_MAX_MS = 2 ** 31 - 1;

/** The possible ends of a request. Exactly one of the callbacks runs, once. */
interface AskEnds {
  readonly answered: (answer: AnswerMessage) => void;
  readonly silent: () => void;
  /** The process of the gateway has ended. */
  readonly gone: () => void;
  /** No gateway received it. */
  readonly absent: () => void;
  /** Redis was unreachable. */
  readonly away: () => void;
}

/** A request without a reply yet. */
interface PendingAsk {
  readonly gatewayId: HubProcessId;
  readonly ends: AskEnds;
  readonly timer: NodeJS.Timeout;
}

export class RedisCallRouter implements CallRouter {
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #logger: BusLogger;
  readonly #local: LocalCallRouter;
  readonly #replies: LateReplies;
  readonly #pending = new Map<number, PendingAsk>();
  #askCount = 0;

  constructor(link: RedisLink, prefix: string, logger: BusLogger) {
    this.#link = link;
    this.#prefix = prefix;
    this.#logger = logger;
    this.#local = new LocalCallRouter(logger);
    this.#replies = new LateReplies(link, logger);
  }

  /** Resolves when replies can arrive. */
  async open(): Promise<void> {
    await this.#link.listen(this.#answerChannel(this.#link.sender), (text) => this.#onAnswer(text));
  }

  async serve(gatewayId: HubProcessId, server: CallServer): Promise<() => Promise<void>> {
    const endLocal = await this.#local.serve(gatewayId, server);
    const endRemote = await this.#link.listen(this.#gatewayChannel(gatewayId), (text, sender) =>
      this.#onAsk(gatewayId, text, sender),
    );
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
    this.#ask(gatewayId, { kind: 'call', routed }, deadlineOf(routed) - Date.now() + ANSWER_TRAVEL_MS, {
      answered: (answer) => settle(answer.kind === 'settled' ? answer.settled : gatewaySilent(routed, Date.now())),
      silent: () => settle(gatewaySilent(routed, Date.now())),
      gone: () => settle(gatewayGone(routed, Date.now())),
      absent: () => settle(gatewayAbsent(routed, Date.now())),
      away: () => settle(redisAway(routed, Date.now())),
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

  awaited(): ReadonlySet<HubProcessId> {
    return new Set([...this.#pending.values()].map(({ gatewayId }) => gatewayId));
  }

  ended(gatewayId: HubProcessId): void {
    for (const [askId, ask] of this.#pending) if (ask.gatewayId === gatewayId && this.#forget(askId)) ask.ends.gone();
  }

  /** Settles pending requests as unanswered. */
  close(): void {
    this.#replies.close();
    for (const [askId, ask] of this.#pending) {
      this.#forget(askId);
      ask.ends.silent();
    }
  }

  #askDone(gatewayId: HubProcessId, question: Question): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const silent = (): void =>
        reject(new BusError('GATEWAY_UNREACHABLE', `Gateway ${gatewayId} received a request and did not answer.`));
      this.#ask(gatewayId, question, GATEWAY_ANSWER_MS, {
        answered: (answer) => resolve(answer.kind === 'done' && answer.isDone),
        silent,
        gone: silent,
        absent: () => resolve(false),
        away: () =>
          reject(new BusError('BUS_UNAVAILABLE', `Redis does not answer: gateway ${gatewayId} was not asked.`)),
      });
    });
  }

  #ask(gatewayId: HubProcessId, question: Question, waitMs: number, ends: AskEnds): void {
    if (!this.#link.isReady) {
      queueMicrotask(ends.away);
      return;
    }
    this.#askCount += 1;
    const askId = this.#askCount;
    const timer = setTimeout(() => this.#take(askId)?.ends.silent(), Math.min(Math.max(waitMs, 0), TIMER_DELAY_MAX_MS));
    this.#pending.set(askId, { gatewayId, ends, timer });
    const message: AskMessage = { ...question, askId };
    this.#link.publish(this.#gatewayChannel(gatewayId), JSON.stringify(message)).then(
      (takers) => {
        if (takers > 0 || !this.#forget(askId)) return;
        if (this.#link.isRecovering) ends.away();
        else ends.absent();
      },
      // The connection broke during the delivery. The message may have arrived, so only its reply
      // or deadline can settle it.
      (error: unknown) =>
        this.#logger.warn({ err: error, gatewayId }, 'could not determine whether a gateway received a call'),
    );
  }

  #onAsk(gatewayId: HubProcessId, text: string, sender: string): void {
    this.#guard(() => {
      const ask = parseAsk(text);
      const { askId } = ask;
      if (ask.kind === 'call') return this.#onCall(gatewayId, ask.routed, { sender, askId });
      const act = ask.kind === 'disconnect' ? this.#local.disconnect : this.#local.refreshTools;
      void act.call(this.#local, gatewayId, ask.deviceId).then((isDone) => {
        this.#answer(sender, { kind: 'done', askId, isDone }, Date.now() + GATEWAY_ANSWER_MS);
      });
    });
  }

  /** Applies the checks to a call of another process, which should have applied them. */
  #onCall(
    gatewayId: HubProcessId,
    routed: RoutedCall,
    { sender, askId }: { readonly sender: string; readonly askId: number },
  ): void {
    const until = deadlineOf(routed);
    const answer = (settled: SettledCall): void => this.#answer(sender, { kind: 'settled', askId, settled }, until);
    const refusal = this.#local.refusalOf(gatewayId, routed);
    if (refusal === undefined) return this.#local.call(gatewayId, routed, answer);
    const { deviceId, call } = routed;
    this.#logger.warn(
      { deviceId, callId: call.callId, tool: call.tool, code: refusal.code },
      'rejected a call of another hub process',
    );
    answer(gatewayRefused(routed, Date.now(), refusal));
  }

  #answer(sender: string, answer: AnswerMessage, until: number): void {
    this.#replies.send(this.#answerChannel(sender), JSON.stringify(answer), until);
  }

  #onAnswer(text: string): void {
    this.#guard(() => {
      const answer = parseAnswer(text);
      this.#take(answer.askId)?.ends.answered(answer);
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

  /** Logs and drops an invalid message, so that it cannot break the connection. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#logger.error({ err: error }, 'could not process a message of another hub process');
    }
  }

  #gatewayChannel(gatewayId: HubProcessId): string {
    return `${this.#prefix}:gateway:${gatewayId}`;
  }

  #answerChannel(process: string): string {
    return `${this.#prefix}:answers:${process}`;
  }
}

/** When the gateway has settled the call at the latest, ms since the Unix epoch. */
function deadlineOf({ call: { queueDeadlineAt, callTimeoutMs, callDeadlineAt } }: RoutedCall): number {
  return Math.min(callDeadlineAt ?? Infinity, queueDeadlineAt + callTimeoutMs);
}
