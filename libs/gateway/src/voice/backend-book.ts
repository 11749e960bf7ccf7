/** Which voice servers are well: those that failed a moment ago are asked last, so that a conversation does not wait for them while another one answers. */
import type { Clock } from '@flotilla/session';

export interface BackendHealth {
  /** Host and port; addresses may carry secrets in their query. */
  readonly backend: string;
  readonly isWell: boolean;
  /** Conversations that were opened with it, and attempts that failed. */
  readonly opened: number;
  readonly failed: number;
}

interface Entry {
  opened: number;
  failed: number;
  restsUntil: number;
}

/** Servers that are remembered: those of all groups and devices of a fleet. */
const BACKENDS_MAX = 1_000;

export class BackendBook {
  readonly #entries = new Map<string, Entry>();

  constructor(
    private readonly clock: Clock,
    private readonly restMs: number,
  ) {}

  /** The same addresses, those that rest behind the others; otherwise in the order given. */
  inOrder(urls: readonly string[]): readonly string[] {
    const now = this.clock.now();
    const rests = (url: string) => (this.#entries.get(url)?.restsUntil ?? 0) > now;
    return [...urls.filter((url) => !rests(url)), ...urls.filter(rests)];
  }

  opened(url: string): void {
    const entry = this.#entry(url);
    entry.opened += 1;
    entry.restsUntil = 0;
  }

  failed(url: string): void {
    const entry = this.#entry(url);
    entry.failed += 1;
    entry.restsUntil = this.clock.now() + this.restMs;
  }

  list(): readonly BackendHealth[] {
    const now = this.clock.now();
    return [...this.#entries].map(([url, { opened, failed, restsUntil }]) => ({
      ...{ backend: backendName(url), isWell: restsUntil <= now, opened, failed },
    }));
  }

  #entry(url: string): Entry {
    const entry = this.#entries.get(url) ?? { opened: 0, failed: 0, restsUntil: 0 };
    this.#entries.delete(url);
    this.#entries.set(url, entry);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > BACKENDS_MAX && !oldest.done) this.#entries.delete(oldest.value);
    return entry;
  }
}

/** `host:port` of a voice server, as records and metrics name it. */
export function backendName(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === '' ? (protocol === 'wss:' ? '443' : '80') : port}`;
}
