/** One request of the host until it is answered or cancelled. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The result of one send. */
export type SendingEnd = 'answered' | 'cancelled' | 'broken' | Error;

export class OpenRequest {
  /**
   * Whether the hub acknowledged it as a subscription. A second acknowledgement means that
   * notifications may be lost.
   */
  isSubscribed = false;
  /** The hub has acknowledged the latest send. */
  isAcknowledged = false;
  readonly #cancelling = new AbortController();
  #end: (end: SendingEnd) => void = () => undefined;

  constructor(readonly message: JSONRPCRequest) {}

  get isCancelled(): boolean {
    return this.#cancelling.signal.aborted;
  }

  /** Sends the request and resolves with its result. Never rejects. */
  send(hub: StreamableHTTPClientTransport): Promise<SendingEnd> {
    if (this.isCancelled) return Promise.resolve('cancelled');
    this.isAcknowledged = false;
    return new Promise((resolve) => {
      this.#end = resolve;
      const options = { requestSignal: this.#cancelling.signal, onRequestStreamEnd: () => resolve('broken') };
      hub
        .send(this.message, options)
        .catch((error: unknown) => resolve(error instanceof Error ? error : new Error(String(error))));
    });
  }

  answered(): void {
    this.#end('answered');
  }

  /** Stops waiting; a late answer is dropped. */
  cancel(): void {
    this.#cancelling.abort();
    this.#end('cancelled');
  }

  /** Resolves after `ms`, or when the host cancels the request. */
  pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#cancelling.signal }).catch(() => undefined);
  }
}
