/**
 * A browser as far as signing in needs one: it keeps cookies, sends them along, and says which page
 * asks.
 */
import type { HubProcess } from '../hub/hub-process.js';

type Target = Pick<HubProcess, 'httpUrl'>;

export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(
    readonly hub: Target,
    /** Where its page is from; null says nothing, as programs do. */
    readonly origin: string | null = hub.httpUrl,
  ) {}

  /** The same cookies under a page of another origin. */
  onPageOf(origin: string | null): Browser {
    const other = new Browser(this.hub, origin);
    for (const [name, value] of this.cookies) other.cookies.set(name, value);
    return other;
  }

  get headers(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { ...(cookie !== '' && { cookie }), ...(this.origin !== null && { origin: this.origin }) };
  }

  async fetch(
    path: string,
    init: { method?: string; body?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const response = await fetch(new URL(path, this.hub.httpUrl), {
      ...init,
      headers: { ...this.headers, ...init.headers },
      redirect: 'manual',
    });
    for (const text of response.headers.getSetCookie()) this.#keep(text);
    return response;
  }

  post(path: string, body: unknown = {}): Promise<Response> {
    return this.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  signIn(email: string, password: string): Promise<Response> {
    return this.post('/api/sign-in', { email, password });
  }

  async graphql<Data>(
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<{ status: number; data?: Data | null; codes: unknown[] }> {
    const response = await this.post('/graphql', { query, variables });
    const { data, errors = [] } = (await response.json()) as {
      data?: Data | null;
      errors?: { extensions: { code: string } }[];
    };
    return {
      status: response.status,
      ...(data !== undefined && { data }),
      codes: errors.map(({ extensions }) => extensions.code),
    };
  }

  #keep(text: string): void {
    const [pair = '', ...attributes] = text.split('; ');
    const place = pair.indexOf('=');
    if (attributes.includes('Max-Age=0')) this.cookies.delete(pair.slice(0, place));
    else this.cookies.set(pair.slice(0, place), pair.slice(place + 1));
  }
}
