/** The options of a client, and their defaults. */

export interface FlotillaClientOptions {
  /**
   * The address of the hub: `https://hub.example`, with a path if a proxy adds one before
   * `/graphql`.
   */
  readonly url: string;
  /** Without it the browser's session cookie counts. */
  readonly apiKey?: string;
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** A class like the browser's. Node 20 has none: give it that of `ws`. */
  readonly webSocket?: unknown;
  /** Also sent with each HTTP request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly limits?: Partial<ClientLimits>;
}

/** Every limit of a client, with its unit and reason. */
export interface ClientLimits {
  /** One HTTP exchange, ms. A tool's call waits for its own deadline besides. */
  readonly requestMs: number;
  /** An upload, ms: a firmware image of 64 MiB over 1 Mbit/s takes nine minutes. */
  readonly uploadMs: number;
  /** Times that a repeatable operation is sent. */
  readonly attemptsMax: number;
  /**
   * The first pause before a retry, ms. It doubles each time, with jitter in its upper half, so
   * that clients do not retry together.
   */
  readonly backOffMs: number;
  /** The longest pause, ms; also where the hub asks for a longer one. */
  readonly backOffMsMax: number;
  /**
   * Reconnect attempts of a WebSocket in a row; with the pauses above about a quarter of an hour.
   */
  readonly reconnectsMax: number;
  /** Between two pings on a WebSocket, ms; a peer that does not answer within this time is dead. */
  readonly keepAliveMs: number;
  /** Values of one subscription that wait for their reader; one more ends it with TOO_SLOW. */
  readonly queueMax: number;
  /** Bytes of an answer's text that are shown in an error. */
  readonly excerptLengthMax: number;
}

export const defaultClientLimits: ClientLimits = {
  requestMs: 30_000,
  uploadMs: 600_000,
  attemptsMax: 4,
  backOffMs: 250,
  backOffMsMax: 30_000,
  reconnectsMax: 40,
  keepAliveMs: 20_000,
  queueMax: 1_000,
  excerptLengthMax: 200,
};

/** For one request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** One exchange, ms. */
  readonly timeoutMs?: number;
}
