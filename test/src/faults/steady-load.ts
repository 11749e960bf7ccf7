/**
 * Callers who go on working while processes fail: single calls and jobs, each with an idempotency
 * key, repeated until there is an answer. They write down what they were answered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { JobShape } from '../crash/job-shapes.js';
import type { FuzzDice } from '../fuzz/fuzz-dice.js';
import type { HubProcess } from '../hub/hub-process.js';

/** Accepts any text, which marks a call. Devices answer `false` to text that is not a theme. */
export const ONCE_TOOL = 'self.screen.set_theme';
export const READING_TOOL = 'self.get_device_status';
/** An idempotent tool for jobs. Its values are enough for all of them. */
export const REPEATABLE_TOOL = 'self.audio_speaker.set_volume';
const VOLUMES = 101;
/** Each third job is of the idempotent tool. */
const REPEATABLE_EVERY = 3;

/** The text that marks a call. */
export const markOf = (number: number): string => `m${number}`;

const CALL_EVERY_MS = 150;
const CALL_TIMEOUT_MS = 3_000;
/** A caller waits so long for an answer, ms, and then asks again. */
const ANSWER_WITHIN_MS = 20_000;
const ASK_AGAIN_AFTER_MS = 300;
const IN_FLIGHT_MAX = 12;

const CALL = `mutation ($input: CallToolInput!) {
  callTool(input: $input) { call { id outcome error { code message } } userErrors { code message } }
}`;
const CREATE = `mutation ($input: CreateJobInput!, $key: String!) {
  createJob(input: $input, idempotencyKey: $key) { job { id } userErrors { code } }
}`;

/** A single call; `outcome` is undefined until it is answered. */
export interface SingleCall {
  readonly mark: number;
  readonly deviceId: string;
  readonly tool: string;
  id: string | undefined;
  outcome: string | undefined;
  code: string | undefined;
  /** What its error or refusal says. */
  message: string | undefined;
  /** Whether an answer was lost or refused, and the caller asked again with the same key. */
  isRepeated: boolean;
}

export interface LoadedJob {
  readonly shape: JobShape;
  id: string | undefined;
}

interface Answer {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

interface CallError {
  readonly code: string;
  readonly message: string;
}

interface CallAnswer {
  readonly call: {
    readonly id: string;
    readonly outcome: string;
    readonly error: CallError | null;
  } | null;
  readonly userErrors: readonly CallError[];
}

export class SteadyLoad {
  readonly calls: SingleCall[] = [];
  readonly jobs: LoadedJob[] = [];
  /** Codes of refused requests, and how often each came. */
  readonly refusals = new Map<string, number>();
  readonly #hub: Pick<HubProcess, 'httpUrl' | 'adminKey'>;
  readonly #dice: FuzzDice;
  readonly #devices: readonly string[];
  readonly #pending = new Set<Promise<unknown>>();
  #marks = 0;
  #isStopping = false;
  #calling: Promise<void> = Promise.resolve();

  constructor(hub: Pick<HubProcess, 'httpUrl' | 'adminKey'>, dice: FuzzDice, devices: readonly string[]) {
    this.#hub = hub;
    this.#dice = dice;
    this.#devices = devices;
  }

  /** Begins the steady single calls. */
  start(): void {
    this.#calling = (async () => {
      while (!this.#isStopping) {
        if (this.#pending.size < IN_FLIGHT_MAX) this.#track(this.call(this.#dice.pick(this.#devices)));
        await pause(CALL_EVERY_MS);
      }
    })();
  }

  /** Resolves when every request has an answer. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#calling;
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Makes one call, and resolves with its record when it has an answer. */
  async call(deviceId: string, tool = this.#dice.pick([ONCE_TOOL, READING_TOOL])): Promise<SingleCall> {
    const mark = ++this.#marks;
    const call: SingleCall = {
      mark,
      deviceId,
      tool,
      id: undefined,
      outcome: undefined,
      code: undefined,
      message: undefined,
      isRepeated: false,
    };
    this.calls.push(call);
    const input = {
      deviceId,
      tool,
      arguments: tool === ONCE_TOOL ? { theme: markOf(mark) } : {},
      timeoutMs: CALL_TIMEOUT_MS,
    };
    const answer = await this.#ask<CallAnswer>(
      'callTool',
      CALL,
      { input: { ...input, idempotencyKey: `c${mark}` } },
      () => {
        call.isRepeated = true;
      },
    );
    call.id = answer.call?.id;
    call.outcome = answer.call?.outcome ?? 'REFUSED';
    const error = answer.call?.error ?? answer.userErrors[0];
    call.code = error?.code;
    call.message = error?.message;
    return call;
  }

  /** Creates a job over all devices. */
  createJob(): void {
    const number = ++this.#marks;
    const isIdempotent = this.jobs.length % REPEATABLE_EVERY === 0;
    const tool = isIdempotent ? REPEATABLE_TOOL : ONCE_TOOL;
    const name = `job ${number}`;
    const mark = isIdempotent
      ? { argument: 'volume', value: (this.jobs.length / REPEATABLE_EVERY) % VOLUMES }
      : { argument: 'theme', value: markOf(number) };
    const input = { tool, maxInFlight: 3 + this.#dice.below(6) };
    const job: LoadedJob = {
      shape: { name, input, mark, isIdempotent, isDisruptive: false, isLeftAlone: true },
      id: undefined,
    };
    this.jobs.push(job);
    const wanted = {
      ...input,
      name,
      devices: { ids: this.#devices },
      arguments: { [mark.argument]: mark.value },
      callTimeoutMs: CALL_TIMEOUT_MS,
      maxAttempts: isIdempotent ? 3 : 1,
    };
    const create = async () => {
      const answer = await this.#ask<{ job: { id: string } | null; userErrors: readonly { code: string }[] }>(
        'createJob',
        CREATE,
        { input: wanted, key: `j${number}` },
        () => undefined,
      );
      if (answer.job === null) throw new Error(`createJob refused: ${JSON.stringify(answer.userErrors)}`);
      job.id = answer.job.id;
    };
    this.#track(create());
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.finally(() => this.#pending.delete(tracked));
    // A failure is for `stop`, which waits for all of them.
    tracked.catch(() => undefined);
    this.#pending.add(tracked);
  }

  /** Asks until there is data. A request without an answer may have been carried out. */
  async #ask<Data>(
    field: string,
    query: string,
    variables: Readonly<Record<string, unknown>>,
    onRepeat: () => void,
  ): Promise<Data> {
    for (;;) {
      const answer = await this.#send(query, variables);
      const data = answer?.data?.[field];
      if (data !== undefined && data !== null) return data as Data;
      for (const { extensions, message } of answer?.errors ?? []) {
        const code = extensions?.code ?? message;
        this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
      }
      onRepeat();
      await pause(ASK_AGAIN_AFTER_MS);
    }
  }

  async #send(query: string, variables: Readonly<Record<string, unknown>>): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${this.#hub.httpUrl}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#hub.adminKey}` },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      return (await response.json()) as Answer;
    } catch {
      return undefined;
    }
  }
}
