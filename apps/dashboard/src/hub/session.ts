/**
 * Who is signed in at this hub: by an API key that this tab keeps, or by a session cookie that only
 * the hub can read.
 */
import { stringifyDocument } from 'urql';
import { rememberedPage } from './sign-in-methods';
import { ViewerDocument, type ViewerQuery } from './generated/viewer';

export type Viewer = ViewerQuery['viewer'];
export type Scope = Viewer['scopes'][number];

export type SessionState =
  | { readonly is: 'opening' }
  /** `ended`: whose session it was that the hub knows no longer. */
  | { readonly is: 'out'; readonly ended?: Viewer }
  | { readonly is: 'unreachable' }
  | { readonly is: 'in'; readonly viewer: Viewer };

export type SignInFailure =
  | { readonly is: 'refused' }
  | { readonly is: 'provider-refused' }
  | { readonly is: 'unreachable' }
  | { readonly is: 'slow-down'; readonly seconds: number };

/** The tab's own: a reload keeps it, another tab and a closed one do not have it. */
const storageKey = 'flotilla.key';
/** A hub that does not answer for so long counts as unreachable, ms. */
const answerMs = 15_000;

/** Headers of a request to the hub. Without a key the browser adds the session's cookie itself. */
export function authorization(): Readonly<Record<string, string>> {
  const key = sessionStorage.getItem(storageKey);
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** What is shown follows `state`; `subscribe` and `state` are made for useSyncExternalStore. */
export class Session {
  #state: SessionState = { is: 'opening' };
  #opening: Promise<void> | undefined;
  readonly #listeners = new Set<() => void>();

  readonly state = (): SessionState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Takes up what this tab or the cookie has. Attempts at the same time are one: a late failure of
   * the first would undo the success of the second.
   */
  open(): Promise<void> {
    return (this.#opening ??= this.#open().finally(() => (this.#opening = undefined)));
  }

  async #open(): Promise<void> {
    try {
      const viewer = await askViewer(authorization());
      if (viewer === undefined) sessionStorage.removeItem(storageKey);
      const page = viewer && rememberedPage();
      if (page !== undefined) return location.replace(page);
      this.#become(viewer === undefined ? { is: 'out' } : { is: 'in', viewer });
    } catch {
      this.#become({ is: 'unreachable' });
    }
  }

  async signInByKey(key: string): Promise<SignInFailure | undefined> {
    try {
      const viewer = await askViewer({ authorization: `Bearer ${key}` });
      if (viewer === undefined) return { is: 'refused' };
      sessionStorage.setItem(storageKey, key);
      this.#become({ is: 'in', viewer });
      return undefined;
    } catch {
      return { is: 'unreachable' };
    }
  }

  async signInByPassword(email: string, password: string): Promise<SignInFailure | undefined> {
    try {
      const answer = await postJson('/api/sign-in', { email, password });
      if (answer.status === 429) return { is: 'slow-down', seconds: Number(answer.headers.get('retry-after') ?? 60) };
      if (!answer.ok) return answer.status < 500 ? { is: 'refused' } : { is: 'unreachable' };
      const viewer = await askViewer({});
      if (viewer === undefined) return { is: 'refused' };
      this.#become({ is: 'in', viewer });
      return undefined;
    } catch {
      return { is: 'unreachable' };
    }
  }

  /**
   * Removes the key from this tab. A cookie that was not cleared on the hub is checked again at the
   * next load.
   */
  async signOut(): Promise<void> {
    const hadKey = sessionStorage.getItem(storageKey) !== null;
    sessionStorage.removeItem(storageKey);
    if (!hadKey) await postJson('/api/sign-out', {}).catch(() => undefined);
    this.#become({ is: 'out' });
  }

  /**
   * Ends all sessions of the person, including this one. Returns false if the hub did not confirm
   * it.
   */
  async signOutEverywhere(): Promise<boolean> {
    try {
      const answer = await postJson('/api/sign-out-everywhere', {});
      // Whom the hub no longer knows is signed out already.
      if (!answer.ok && answer.status !== 401) return false;
      this.#become({ is: 'out' });
      return true;
    } catch {
      return false;
    }
  }

  /** The hub rejected the credentials. The address stays, so that signing in leads back to it. */
  readonly end = (): void => {
    if (this.#state.is !== 'in') return;
    sessionStorage.removeItem(storageKey);
    this.#become({ is: 'out', ended: this.#state.viewer });
  };

  /** Goes on if the person has signed in again elsewhere, such as in another tab. */
  async resume(): Promise<void> {
    const viewer = await askViewer(authorization()).catch(() => undefined);
    const state = this.#state;
    if (viewer === undefined || state.is !== 'out' || state.ended === undefined) return;
    if (viewerId(viewer) === viewerId(state.ended)) this.#become({ is: 'in', viewer });
  }

  #become(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** The same for two sessions of a viewer with the same rights. */
export function viewerId({ name, kind, user, scopes }: Viewer): string {
  return JSON.stringify([name, kind, user?.id, scopes]);
}

function postJson(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

/** Undefined if the hub does not know the viewer. Throws if the hub cannot answer. */
async function askViewer(headers: Readonly<Record<string, string>>): Promise<Viewer | undefined> {
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: stringifyDocument(ViewerDocument) }),
    signal: AbortSignal.timeout(answerMs),
  });
  if (answer.status === 401) return undefined;
  const { data } = (await answer.json()) as { data?: ViewerQuery | null };
  if (!data) throw new Error(`The hub answered ${answer.status}.`);
  return data.viewer;
}
