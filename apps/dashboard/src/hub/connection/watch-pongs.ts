/** Ends a connection whose peer answers no ping: graphql-ws waits for a pong without limit. */

interface PongWatch {
  readonly ping: (isReceived: boolean) => void;
  readonly pong: (isReceived: boolean) => void;
  readonly closed: () => void;
}

/** The listeners of one client of graphql-ws. A pong must come within `waitMs` after its ping. */
export function watchPongs(waitMs: number, terminate: () => void): PongWatch {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => clearTimeout(timer);
  return {
    ping: (isReceived) => {
      if (isReceived) return;
      stop();
      timer = setTimeout(terminate, waitMs);
    },
    pong: (isReceived) => {
      if (isReceived) stop();
    },
    closed: stop,
  };
}
