import { createClient } from 'graphql-ws/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { returningSocket } from './returning-socket';

/** As that of browsers, which Node 20 does not have. */
class BrowserCloseEvent extends Event {
  readonly code: number;
  readonly reason: string;

  constructor(type: string, { code, reason }: { readonly code: number; readonly reason: string }) {
    super(type);
    this.code = code;
    this.reason = reason;
  }
}

beforeEach(() => void vi.stubGlobal('CloseEvent', BrowserCloseEvent));
afterEach(() => void vi.unstubAllGlobals());

/** A hub that closes each connection with the next of these codes. */
function hubThatCloses(...codes: readonly number[]) {
  let opened = 0;
  class HubSocket extends EventTarget {
    static readonly CONNECTING = 0;
    static readonly OPEN = 1;
    static readonly CLOSING = 2;
    static readonly CLOSED = 3;
    readonly readyState = 3;
    #onclose: ((event: Event) => void) | null = null;

    constructor() {
      super();
      const code = codes[opened++] ?? 4403;
      setImmediate(() => this.dispatchEvent(new BrowserCloseEvent('close', { code, reason: 'spec' })));
    }

    set onclose(listener: ((event: Event) => void) | null) {
      if (this.#onclose === null) this.addEventListener('close', (event) => this.#onclose?.(event));
      this.#onclose = listener;
    }
  }
  return { webSocket: HubSocket as unknown as typeof WebSocket, opened: () => opened };
}

/** The code that ends a client which keeps its connection, as that of the console. */
function finalCode(webSocketImpl: typeof WebSocket): Promise<unknown> {
  return new Promise((resolve) => {
    createClient({
      url: 'ws://hub/graphql',
      webSocketImpl,
      lazy: false,
      retryWait: () => Promise.resolve(),
      shouldRetry: (event) => (event as BrowserCloseEvent).code !== 4403,
      onNonLazyError: (event) => resolve((event as BrowserCloseEvent).code),
    });
  });
}

describe('a socket that returns', () => {
  it('is opened again after too many invalid keys from its address', async () => {
    const { webSocket, opened } = hubThatCloses(4429, 4429, 4403);
    expect(await finalCode(returningSocket(webSocket))).toBe(4403);
    expect(opened()).toBe(3);
  });

  it('leaves each other close as it is', async () => {
    const { webSocket, opened } = hubThatCloses(4400);
    expect(await finalCode(returningSocket(webSocket))).toBe(4400);
    expect(opened()).toBe(1);
  });
});
