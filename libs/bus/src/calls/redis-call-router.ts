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
} from './call-outcomes.js';
import type { CallRouter, CallServer, RoutedCall } from './call-router.js';
import { LateReplies } from './late-replies.js';
import { LocalCallRouter } from './local-call-router.js';
import type { RedisLink } from '../redis/redis-link.js';
import { parseReply, parseRequest, writeReply, writeRequest } from '../redis/redis-messages.js';
import type { ReplyMessage, GatewayRequest } from '../redis/redis-messages.js';

/** Pending requests: ten jobs at their largest maxInFlight. Further calls are rejected unsent. */
const PENDING_REQUESTS_MAX = 100_000;
/**
 * The time for a reply after the call's deadline, at which the gateway settles it; otherwise the
 * reply would arrive too late.
 */
const REPLY_TRAVEL_MS = 250;
/** A gateway answers requests without a device at once. */
const GATEWAY_REPLY_MS = 5_000;
/** Longest delay of a Node timer. */
const TIMER_DELAY_MAX_MS = 2 ** 31 - 1;

/** The possible ends of a request. Exactly one of the callbacks runs, once. */
interface ReplyHandlers {
  readonly replied: (reply: ReplyMessage) => void;
  readonly timedOut: () => void;
  /** The process of the gateway has ended. */
  readonly gatewayEnded: () => void;
  /** No gateway received it. */
  readonly notReceived: () => void;
  /** Redis was unreachable. */
  readonly unreachable: () => void;
}

/** A request without a reply yet. */
interface PendingRequest {
  readonly gatewayId: HubProcessId;
  readonly handlers: ReplyHandlers;
  readonly timer: NodeJS.Timeout;
}

export class RedisCallRouter implements CallRouter {
  readonly #link: RedisLink;
  readonly #logger: BusLogger;
  readonly #local: LocalCallRouter;
  readonly #replies: LateReplies;
  readonly #pending = new Map<number, PendingRequest>();
  #requestCount = 0;

  constructor(link: RedisLink, logger: BusLogger) {
    this.#link = link;
    this.#logger = logger;
    this.#local = new LocalCallRouter(logger);
    this.#replies = new LateReplies(link, logger);
  }

  /** Resolves when replies can arrive. */
  async open(): Promise<void> {
    await this.#link.listen(this.#replyChannel(this.#link.sender), (text) => this.#onReply(text));
  }

  async serve(gatewayId: HubProcessId, server: CallServer): Promise<() => Promise<void>> {
    const endLocal = await this.#local.serve(gatewayId, server);
    const endRemote = await this.#link.listen(this.#gatewayChannel(gatewayId), (text, sender) =>
      this.#onRequest(gatewayId, text, sender),
    );
    return async () => {
      await endRemote();
      await endLocal();
    };
  }

  deliver(gatewayId: HubProcessId, routed: RoutedCall, settle: (settled: SettledCall) => void): void {
    if (this.#local.has(gatewayId)) {
      this.#local.deliver(gatewayId, routed, settle);
      return;
    }
    if (this.#pending.size >= PENDING_REQUESTS_MAX) {
      queueMicrotask(() => settle(routerOverloaded(routed, Date.now())));
      return;
    }
    this.#request(gatewayId, { kind: 'call', routed }, deadlineOf(routed) - Date.now() + REPLY_TRAVEL_MS, {
      replied: (reply) => settle(reply.kind === 'settled' ? reply.settled : gatewaySilent(routed, Date.now())),
      timedOut: () => settle(gatewaySilent(routed, Date.now())),
      gatewayEnded: () => settle(gatewayGone(routed, Date.now())),
      notReceived: () => settle(gatewayAbsent(routed, Date.now())),
      unreachable: () => settle(redisAway(routed, Date.now())),
    });
  }

  refreshTools(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean> {
    if (this.#local.has(gatewayId)) return this.#local.refreshTools(gatewayId, deviceId);
    return this.#requestCommand(gatewayId, { kind: 'refreshTools', deviceId });
  }

  disconnect(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean> {
    if (this.#local.has(gatewayId)) return this.#local.disconnect(gatewayId, deviceId);
    return this.#requestCommand(gatewayId, { kind: 'disconnect', deviceId });
  }

  awaited(): ReadonlySet<HubProcessId> {
    return new Set([...this.#pending.values()].map(({ gatewayId }) => gatewayId));
  }

  ended(gatewayId: HubProcessId): void {
    for (const [askId, request] of this.#pending)
      if (request.gatewayId === gatewayId && this.#forget(askId)) request.handlers.gatewayEnded();
  }

  /** Settles pending requests as unanswered. */
  close(): void {
    this.#replies.close();
    for (const [askId, request] of this.#pending) {
      this.#forget(askId);
      request.handlers.timedOut();
    }
  }

  #requestCommand(gatewayId: HubProcessId, request: GatewayRequest): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const unanswered = (): void =>
        reject(new BusError('GATEWAY_UNREACHABLE', `Gateway ${gatewayId} received a request and did not answer.`));
      this.#request(gatewayId, request, GATEWAY_REPLY_MS, {
        replied: (reply) => resolve(reply.kind === 'done' && reply.isDone),
        timedOut: unanswered,
        gatewayEnded: unanswered,
        notReceived: () => resolve(false),
        unreachable: () =>
          reject(
            new BusError('BUS_UNAVAILABLE', `Redis does not answer: gateway ${gatewayId} did not receive the request.`),
          ),
      });
    });
  }

  #request(gatewayId: HubProcessId, request: GatewayRequest, waitMs: number, handlers: ReplyHandlers): void {
    if (!this.#link.isReady) {
      queueMicrotask(handlers.unreachable);
      return;
    }
    this.#requestCount += 1;
    const askId = this.#requestCount;
    const timer = setTimeout(
      () => this.#take(askId)?.handlers.timedOut(),
      Math.min(Math.max(waitMs, 0), TIMER_DELAY_MAX_MS),
    );
    this.#pending.set(askId, { gatewayId, handlers, timer });
    this.#link.publish(this.#gatewayChannel(gatewayId), writeRequest({ ...request, askId })).then(
      (takers) => {
        if (takers > 0 || !this.#forget(askId)) return;
        if (this.#link.isRecovering) handlers.unreachable();
        else handlers.notReceived();
      },
      (error: unknown) => {
        if (isAnswer(error) && this.#forget(askId)) return handlers.unreachable();
        // The connection broke during the delivery. The message may have arrived, so only its reply
        // or deadline can settle it.
        this.#logger.warn({ err: error, gatewayId }, 'could not determine whether a gateway received a call');
      },
    );
  }

  #onRequest(gatewayId: HubProcessId, text: string, sender: string): void {
    this.#guard(() => {
      const request = parseRequest(text);
      const { askId } = request;
      if (request.kind === 'call') return this.#deliverHere(gatewayId, request.routed, { sender, askId });
      const command = request.kind === 'disconnect' ? this.#local.disconnect : this.#local.refreshTools;
      void command.call(this.#local, gatewayId, request.deviceId).then((isDone) => {
        this.#reply(sender, { kind: 'done', askId, isDone }, Date.now() + GATEWAY_REPLY_MS);
      });
    });
  }

  /** Applies the checks to a call of another process, which should have applied them. */
  #deliverHere(
    gatewayId: HubProcessId,
    routed: RoutedCall,
    { sender, askId }: { readonly sender: string; readonly askId: number },
  ): void {
    const until = deadlineOf(routed);
    const reply = (settled: SettledCall): void => this.#reply(sender, { kind: 'settled', askId, settled }, until);
    const refusal = this.#local.refusalOf(gatewayId, routed);
    if (refusal === undefined) return this.#local.deliver(gatewayId, routed, reply);
    const { deviceId, call } = routed;
    this.#logger.warn(
      { deviceId, callId: call.callId, tool: call.tool, code: refusal.code },
      'rejected a call of another hub process',
    );
    reply(gatewayRefused(routed, Date.now(), refusal));
  }

  #reply(sender: string, reply: ReplyMessage, until: number): void {
    this.#replies.send(this.#replyChannel(sender), writeReply(reply), until);
  }

  #onReply(text: string): void {
    this.#guard(() => {
      const reply = parseReply(text);
      this.#take(reply.askId)?.handlers.replied(reply);
    });
  }

  #take(askId: number): PendingRequest | undefined {
    const request = this.#pending.get(askId);
    this.#forget(askId);
    return request;
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
    return `${this.#link.prefix}:gateway:${gatewayId}`;
  }

  #replyChannel(process: string): string {
    return `${this.#link.prefix}:answers:${process}`;
  }
}

/** Redis refused the message, such as a node that is not master any more: certainly not sent. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** When the gateway has settled the call at the latest, ms since the Unix epoch. */
function deadlineOf({ call: { queueDeadlineAt, callTimeoutMs, callDeadlineAt } }: RoutedCall): number {
  return Math.min(callDeadlineAt ?? Infinity, queueDeadlineAt + callTimeoutMs);
}
