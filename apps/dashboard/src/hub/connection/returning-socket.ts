/**
 * A WebSocket that graphql-ws opens again after 4429, which it takes for final. The hub closes with
 * it for a minute after too many invalid keys from this address.
 */

/** The hub's close code for too many invalid keys. */
const tooManyFailures = 4429;
/** The standard one, after which graphql-ws waits and connects again. */
const tryAgainLater = 1013;

export function returningSocket(Base: typeof WebSocket): typeof WebSocket {
  return class ReturningSocket extends Base {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      // It is the first listener, and stops the event before graphql-ws receives it.
      this.addEventListener('close', (event) => {
        if (event.code !== tooManyFailures) return;
        event.stopImmediatePropagation();
        this.dispatchEvent(new CloseEvent('close', { code: tryAgainLater, reason: event.reason }));
      });
    }
  };
}
