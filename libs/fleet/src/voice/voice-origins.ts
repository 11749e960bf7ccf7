/** Which voice servers an operator has named in the settings, by origin: what a server may have and do depends on that, never on who chose it. */

export class VoiceOrigins {
  readonly #own: ReadonlySet<string>;
  readonly #listed: ReadonlySet<string>;

  /** `own`: addresses of the fleet's voice servers (FLOTILLA_VOICE_URL); `listed`: further origins (FLOTILLA_VOICE_URLS). */
  constructor(named: { readonly own: readonly string[]; readonly listed: readonly string[] }) {
    this.#own = new Set(named.own.map(originOf));
    this.#listed = new Set([...named.listed.map(originOf), ...this.#own]);
  }

  /** One of the fleet's own: these may have the hub's token, and call user-only tools. */
  isOwn(url: string): boolean {
    return this.#own.has(originOf(url));
  }

  /** The fleet's own ones are listed, too. Listed servers may be anywhere, and may know the Client-Id of a device. */
  isListed(url: string): boolean {
    return this.#listed.has(originOf(url));
  }
}

function originOf(url: string): string {
  return new URL(url).origin;
}
