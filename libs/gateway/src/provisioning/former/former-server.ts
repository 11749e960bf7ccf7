/**
 * The server that boards asked before: how a request of a board goes there, and what comes back.
 * Nothing of an answer may be logged or stored, because it contains credentials.
 */

/** A request of a board, as it arrived. */
export interface FormerRequest {
  readonly method: string;
  /** The path behind `/ota`, with the query: ``, `/`, `/activate`, `/?v=1`. */
  readonly suffix: string;
  /** Names and values in turn, in the letter case of the board. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
  /** The address of the board. */
  readonly address: string | undefined;
}

/** An answer that goes to the board as it is. */
export interface FormerAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly body: Uint8Array;
}

export interface FormerServer {
  /** Asks once. Undefined: it is down, too slow, failed or sent too much. Never rejects. */
  ask(request: FormerRequest): Promise<FormerAnswer | undefined>;
}

/** Paths of the OTA endpoint without the token of a link. Others never go to the former server. */
const passedPath = /^\/ota((?:\/(?:activate\/?)?)?(?:\?.*)?)$/;

/** The part of a URL behind `/ota`; undefined if it must not go to the former server. */
export function formerSuffix(url: string): string | undefined {
  return passedPath.exec(url)?.[1];
}
