/** One request of the host until it is answered, or the host takes it back. */
import type { JSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The result of one send. */
export type SendingEnd = 'answered' | 'cancelled' | 'broken' | Error;

export class OpenRequest {
  readonly message: JSONRPCRequest;
  /** The hub has promised news on it: when it does so again, some may have been missed. */
  hasNews = false;
  /** Something came of the latest sending. */
  wasHeard = false;
  readonly #cancelling = new AbortController();
  #end: (end: SendingEnd) => void = () => undefined;

  constructor(message: JSONRPCRequest) {
    this.message = message;
  }

  get isCancelled(): boolean {
    return this.#cancelling.signal.aborted;
  }

  /** Sends the request and resolves with its result. Never rejects. */
  send(hub: StreamableHTTPClientTransport): Promise<SendingEnd> {
    if (this.isCancelled) return Promise.resolve('cancelled');
    this.wasHeard = false;
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

  /** A late answer has no reader. */
  cancel(): void {
    this.#cancelling.abort();
    this.#end('cancelled');
  }

  /** Resolves after so long, or when the host takes the request back. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#cancelling.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
