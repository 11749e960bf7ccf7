/** sessionLog: the messages of one device, until its reader leaves or the time ends. */
import type { SessionLogEntry as FeedEntry, SessionLogKind } from '@flotilla/bus';
import type { OpenSessionLog, Refusal, SessionLogReader } from '@flotilla/fleet';
import { ApiError } from '../../errors/api-error.js';
import { liveStream } from './live-stream.js';

export interface ShownLogEntry extends Omit<FeedEntry, 'deviceId' | 'kind'> {
  readonly kind: SessionLogKind | 'STARTED';
}

/** Entries that wait for a slow reader: some seconds of a fast device. Later ones are counted. */
const WAITING_MAX = 200;

type Open = (reader: SessionLogReader) => Promise<{ readonly log?: OpenSessionLog; readonly refusal?: Refusal }>;

/** Throws NOT_FOUND or RATE_LIMITED before the first entry. */
export async function sessionLog(open: Open): Promise<AsyncGenerator<ShownLogEntry, void, void>> {
  const waiting = new WaitingEntries();
  const { log, refusal } = await open({ onEntry: (entry) => waiting.push(entry), onEnd: () => waiting.end() });
  if (log === undefined) throw refusalError(refusal);
  const stream = liveStream<ShownLogEntry>(async function* (signal) {
    signal.addEventListener('abort', () => waiting.end());
    try {
      yield infoEntry('STARTED', log.startedAt, new Date(log.endsAt).toISOString());
      for (let entry = await waiting.take(); entry !== undefined; entry = await waiting.take()) yield entry;
    } finally {
      log.close();
    }
  });
  // A reader may leave before the first entry, when the generator above has not begun.
  const end = stream.return.bind(stream);
  return Object.assign(stream, {
    return: () => {
      log.close();
      return end();
    },
  });
}

function refusalError(refusal: Refusal | undefined): ApiError {
  const code = refusal?.code === 'NOT_FOUND' ? 'NOT_FOUND' : 'RATE_LIMITED';
  return new ApiError(code, refusal?.message ?? 'The log could not be opened. Try again later.');
}

function infoEntry(kind: ShownLogEntry['kind'], at: number, text: string): ShownLogEntry {
  return { at, kind, text, bytes: 0, isTruncated: false };
}

/** Entries in order, for one reader. */
class WaitingEntries {
  readonly #entries: ShownLogEntry[] = [];
  #dropped = 0;
  #isEnded = false;
  #wake: (() => void) | undefined;

  push({ at, kind, text, bytes, isTruncated }: FeedEntry): void {
    if (this.#isEnded) return;
    if (this.#entries.length >= WAITING_MAX) this.#dropped += 1;
    else this.#entries.push({ at, kind, text, isTruncated, bytes: kind === 'SENT' || kind === 'RECEIVED' ? bytes : 0 });
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** Undefined after the end, when all entries were taken. */
  async take(): Promise<ShownLogEntry | undefined> {
    if (this.#entries.length === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    const entry = this.#entries.shift();
    if (this.#entries.length > 0 || this.#dropped === 0) return entry;
    const dropped = infoEntry('DROPPED', entry?.at ?? Date.now(), String(this.#dropped));
    this.#dropped = 0;
    this.#entries.push(dropped);
    return entry ?? this.#entries.shift();
  }
}
