/**
 * The voice servers that the settings name, by origin. What a server may have and do depends on
 * that, not on who chose it.
 */

export class VoiceOrigins {
  readonly #own: ReadonlySet<string>;
  readonly #listed: ReadonlySet<string>;

  /** `own`: addresses in FLOTILLA_VOICE_URL; `listed`: origins in FLOTILLA_VOICE_URLS. */
  constructor(named: { readonly own: readonly string[]; readonly listed: readonly string[] }) {
    this.#own = new Set(named.own.map(originOf));
    this.#listed = new Set([...named.listed.map(originOf), ...this.#own]);
  }

  /** One of the fleet's own: these may have the hub's token, and call user-only tools. */
  isOwn(url: string): boolean {
    return this.#own.has(originOf(url));
  }

  /** Own servers are listed, too. Listed ones may be anywhere, and may know Client-Ids. */
  isListed(url: string): boolean {
    return this.#listed.has(originOf(url));
  }
}

function originOf(url: string): string {
  return new URL(url).origin;
}
