/**
 * Answers repetitions of a call with the outcome of the first one, from memory or from its record.
 * It never sends.
 */
import type { CallId, HubProcessId } from '@flotilla/mcp';
import type { CallRow, CallStore } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { CallAnswer } from './call-request.js';
import type { ProcessWatch } from './process-watch.js';

/** How long after its deadline a call that ended there may take to be on record, ms. */
const recordGraceMs = 2_000;
/** Pause between looks at the record of a call that another process may still be making. */
const lookAgainMs = 250;

interface FirstCall {
  readonly timeoutMs: number;
  /** The process that makes it. */
  readonly processId: HubProcessId | undefined;
}

export class KeyedCalls {
  /** As bounded as the calls in flight. */
  readonly #running = new Map<string, Promise<CallAnswer>>();

  /** Without `processes` a call of a dead process ends at its deadline. */
  constructor(
    private readonly store: CallStore,
    private readonly clock: Clock,
    private readonly processes?: Pick<ProcessWatch, 'add'>,
  ) {}

  /** Keeps a running call findable for those who ask again. */
  async hold(id: CallId, answer: Promise<CallAnswer>): Promise<CallAnswer> {
    this.#running.set(id, answer);
    try {
      return await answer;
    } finally {
      this.#running.delete(id);
    }
  }

  /**
   * Waits for the end of the first call. It is UNKNOWN if its time passes or its process dies
   * without a record.
   */
  async endOf(first: CallRow, { timeoutMs, processId }: FirstCall): Promise<CallRow> {
    const running = this.#running.get(first.id);
    if (running !== undefined) return (await running).call ?? abandoned(first);
    let call = first;
    let isProcessGone = false;
    const awaited = processId === undefined ? [] : [processId];
    const stopWatching = this.processes?.add({
      awaited: () => awaited,
      ended: (id) => (isProcessGone ||= id === processId),
    });
    try {
      while (
        call.outcome === undefined &&
        !isProcessGone &&
        this.clock.now() < first.startedAt + timeoutMs + recordGraceMs
      ) {
        await new Promise<void>((resolve) => this.clock.setTimer(lookAgainMs, resolve));
        call = (await this.store.find(first.id)) ?? first;
      }
    } finally {
      stopWatching?.();
    }
    return call.outcome === undefined ? abandoned(call) : call;
  }
}

function abandoned(call: CallRow): CallRow {
  const message =
    'No outcome of the call is on record: the hub ended before it could write one, or PostgreSQL refused it.';
  return { ...call, outcome: 'UNKNOWN', error: { code: 'HUB_RESTARTED', message } };
}
