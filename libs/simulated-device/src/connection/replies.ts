/**
 * Sends replies framed as the firmware does, or spoiled by a behaviour. Error texts are not
 * escaped. [xiaozhi §4.2]
 */
import type { Agenda } from '../calls/agenda.js';
import type { BehaviourScript, RequestSubject } from '../behaviour/behaviour-script.js';
import type { Link } from './link.js';
import type { MainTask } from '../calls/main-task.js';

/** How long an `outOfOrder` reply waits for another one to overtake it. */
const OVERTAKE_WAIT_MS = 1000;
/** Characters cut from a malformed reply: enough to break the JSON, few enough to keep its id. */
const CUT_CHARACTERS = 3;

export interface Request extends RequestSubject {
  readonly id: number;
}

/** One member of the reply, `"result":…` or `"error":…`, as text. */
export type ReplyBody = string;

export function resultBody(result: string): ReplyBody {
  return `"result":${result}`;
}

export function errorBody(message: string): ReplyBody {
  return `"error":{"message":"${message}"}`;
}

export interface ReplyParts {
  readonly link: Link;
  readonly mainTask: MainTask;
  readonly agenda: Agenda;
  readonly script: BehaviourScript;
}

export class Replies {
  #overtaken: readonly (() => void)[] = [];

  constructor(private readonly parts: ReplyParts) {}

  /** Queues the reply behind the main task's work, as current firmware does. [xiaozhi §4.5] */
  queue(request: Request, body: ReplyBody): void {
    this.parts.mainTask.push({ begin: () => 0, finish: (now) => this.deliver(request, body, now) });
  }

  /** Sends the reply now, unless a behaviour knows better. */
  deliver(request: Request, body: ReplyBody, now: number): void {
    const { script } = this.parts;
    if (script.isEmpty && this.#overtaken.length === 0) return this.#send(request, body, 0);
    if (script.strike('silent', request)) return;
    const spoiltBody = this.#spoil(request, body);
    const cut = script.strike('malformedReply', request) ? CUT_CHARACTERS : 0;
    const send = () => this.#send(request, spoiltBody, cut);
    const late = script.strike('lateReply', request);
    if (late) return this.parts.agenda.add(now + late.ms, send);
    const outOfOrder = script.strike('outOfOrder', request);
    if (outOfOrder) return this.#letOvertake(send, now + (outOfOrder.ms ?? OVERTAKE_WAIT_MS));
    send();
    if (script.strike('duplicateReply', request)) send();
    this.#sendOvertaken();
  }

  clear(): void {
    this.#overtaken = [];
  }

  #spoil(request: Request, body: ReplyBody): ReplyBody {
    const { script } = this.parts;
    const plainError = script.strike('errorWithoutCode', request);
    if (plainError) return errorBody(JSON.stringify(plainError.message ?? 'Simulated failure').slice(1, -1));
    return script.strike('unescapedError', request) ? errorBody('Cannot open "simulated\nfile"') : body;
  }

  #letOvertake(send: () => void, waitUntil: number): void {
    this.#overtaken = [...this.#overtaken, send];
    this.parts.agenda.add(waitUntil, () => {
      if (this.#overtaken.includes(send)) this.#sendOvertaken();
    });
  }

  #sendOvertaken(): void {
    const waiting = this.#overtaken;
    if (waiting.length === 0) return;
    this.#overtaken = [];
    for (const send of waiting) send();
  }

  #send(request: Request, body: ReplyBody, cut: number): void {
    const { link } = this.parts;
    const payload = `{"jsonrpc":"2.0","id":${request.id},${body}}`;
    const frame = `{"session_id":"${link.sessionId}","type":"mcp","payload":${payload}}`;
    link.send(cut === 0 ? frame : frame.slice(0, -cut));
  }
}
