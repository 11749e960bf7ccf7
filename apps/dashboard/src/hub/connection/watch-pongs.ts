/** Ends a connection that is silent after a ping: graphql-ws waits for a pong without limit. */

interface PongWatch {
  readonly ping: (isReceived: boolean) => void;
  readonly pong: (isReceived: boolean) => void;
  /** Each message that arrives. */
  readonly message: () => void;
  readonly closed: () => void;
}

/**
 * The listeners of one client of graphql-ws. Until the pong, no silence may last `waitMs`: on a
 * slow line, the pong waits behind other messages.
 */
export function watchPongs(waitMs: number, terminate: () => void): PongWatch {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const wait = (): void => {
    stop();
    timer = setTimeout(terminate, waitMs);
  };
  return {
    ping: (isReceived) => {
      if (!isReceived) wait();
    },
    pong: (isReceived) => {
      if (isReceived) stop();
    },
    message: () => {
      if (timer !== undefined) wait();
    },
    closed: stop,
  };
}
