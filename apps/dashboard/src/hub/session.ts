/**
 * Who is signed in at this hub: by an API key that this tab keeps, or by a session cookie that only
 * the hub can read.
 */
import { stringifyDocument } from 'urql';
import { answerMs, rememberedPage } from './sign-in-methods';
import { ViewerDocument, type ViewerQuery } from './generated/viewer';

export type Viewer = ViewerQuery['viewer'];
export type Scope = Viewer['scopes'][number];

export type SessionState =
  | { readonly is: 'opening' }
  /**
   * `ended`: whose session it was that the hub knows no longer. `isUnconfirmed`: the hub may know
   * it still, because it did not confirm the sign-out.
   */
  | { readonly is: 'out'; readonly ended?: Viewer; readonly isUnconfirmed?: true }
  | { readonly is: 'unreachable' }
  | { readonly is: 'in'; readonly viewer: Viewer };

export type SignInFailure =
  | { readonly is: 'refused'; readonly by: 'key' | 'password' }
  | { readonly is: 'provider-refused' }
  /** For another reason than the credentials, in the words of the hub. */
  | { readonly is: 'rejected'; readonly message: string }
  /** The hub opened a session, but the browser did not keep its cookie. */
  | { readonly is: 'not-kept' }
  | { readonly is: 'unreachable' }
  | { readonly is: 'slow-down'; readonly seconds: number };

/** The tab's own: a reload keeps it, another tab and a closed one do not have it. */
const storageKey = 'flotilla.key';

/** Headers of a request to the hub. Without a key the browser adds the session's cookie itself. */
export function authorization(): Readonly<Record<string, string>> {
  const key = sessionStorage.getItem(storageKey);
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** What is shown follows `state`; `subscribe` and `state` are made for useSyncExternalStore. */
export class Session {
  #state: SessionState = { is: 'opening' };
  #opening: Promise<void> | undefined;
  #isSigningOut = false;
  readonly #listeners = new Set<() => void>();
  /** Tabs share the cookie. Carries the id of the person who signed in; null after a sign-out. */
  readonly #tabs = new BroadcastChannel('flotilla.person');

  constructor() {
    this.#tabs.onmessage = ({ data }: MessageEvent<string | null>) => this.#follow(data);
  }

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
      const { viewer } = await askViewer(authorization());
      if (viewer === undefined) sessionStorage.removeItem(storageKey);
      const page = viewer && rememberedPage();
      if (page !== undefined) return location.replace(page);
      if (viewer === undefined) this.#become({ is: 'out' });
      else this.#enter(viewer);
    } catch {
      this.#become({ is: 'unreachable' });
    }
  }

  async signInByKey(key: string): Promise<SignInFailure | undefined> {
    try {
      const { viewer, waitMs } = await askViewer({ authorization: `Bearer ${key}` });
      if (waitMs !== undefined) return { is: 'slow-down', seconds: Math.ceil(waitMs / 1_000) };
      if (viewer === undefined) return { is: 'refused', by: 'key' };
      this.#enter(viewer, key);
      return undefined;
    } catch {
      return { is: 'unreachable' };
    }
  }

  async signInByPassword(email: string, password: string): Promise<SignInFailure | undefined> {
    try {
      const answer = await postJson('/api/sign-in', { email, password });
      if (answer.status === 429) return { is: 'slow-down', seconds: Number(answer.headers.get('retry-after') ?? 60) };
      if (answer.status === 401) return { is: 'refused', by: 'password' };
      if (!answer.ok) return await rejectionIn(answer);
      const { viewer } = await askViewer({});
      if (viewer === undefined) return { is: 'not-kept' };
      this.#enter(viewer);
      return undefined;
    } catch {
      return { is: 'unreachable' };
    }
  }

  /** Removes the viewer from this tab at once. Only the hub can end the session of a cookie. */
  async signOut(): Promise<void> {
    const hadKey = sessionStorage.getItem(storageKey) !== null;
    sessionStorage.clear();
    this.#become({ is: 'opening' });
    if (!hadKey) this.#tabs.postMessage(null);
    if (hadKey || (await isConfirmed('/api/sign-out'))) this.#become({ is: 'out' });
    else this.#become({ is: 'out', isUnconfirmed: true });
  }

  /**
   * Ends all sessions of the person, including this one. Returns false if the hub did not confirm
   * it.
   */
  async signOutEverywhere(): Promise<boolean> {
    this.#isSigningOut = true;
    try {
      const isOut = await isConfirmed('/api/sign-out-everywhere');
      if (isOut) this.#leaveInEachTab();
      return isOut;
    } finally {
      this.#isSigningOut = false;
    }
  }

  /** The hub rejected the credentials. The address stays, so that signing in leads back to it. */
  readonly end = (): void => {
    if (this.#state.is !== 'in') return;
    // The socket may end before the answer to the sign-out, or without it.
    if (this.#isSigningOut) return this.#leaveInEachTab();
    sessionStorage.removeItem(storageKey);
    this.#become({ is: 'out', ended: this.#state.viewer });
  };

  /**
   * Goes on if the person has signed in again in another tab. If another person has, the page is
   * theirs.
   */
  async resume(): Promise<void> {
    const viewer = (await askViewer({}).catch(() => undefined))?.viewer;
    const isCovered = this.#state.is === 'out' && shownViewer(this.#state) !== undefined;
    if (viewer !== undefined && isCovered) this.#enter(viewer);
  }

  /**
   * The live connection was lost, and is back. The hub also ends it where the rights of the viewer
   * have changed.
   */
  readonly renew = async (): Promise<void> => {
    const before = this.#state;
    if (before.is !== 'in') return;
    const asked = await askViewer(authorization()).catch(() => undefined);
    // The viewer may have left meanwhile.
    if (asked === undefined || this.#state !== before) return;
    if (asked.viewer === undefined) return this.end();
    if (asked.viewer.user?.id !== before.viewer.user?.id) {
      this.#leave();
      return this.open();
    }
    if (JSON.stringify(asked.viewer) !== JSON.stringify(before.viewer))
      this.#become({ is: 'in', viewer: asked.viewer });
  };

  /** Another tab has changed the cookie, which is this tab's, too. */
  #follow(person: string | null): void {
    const former = shownViewer(this.#state)?.user;
    if (!former) return;
    if (former.id === person) {
      if (this.#state.is === 'out') void this.resume();
      return;
    }
    this.#leave();
    if (person !== null) void this.open();
  }

  /** Another viewer finds nothing of the one whose session has ended. */
  #enter(viewer: Viewer, key?: string): void {
    const former = this.#state.is === 'out' ? this.#state.ended : undefined;
    if (former && viewerId(former) !== viewerId(viewer)) sessionStorage.clear();
    if (key !== undefined) sessionStorage.setItem(storageKey, key);
    this.#become({ is: 'in', viewer });
    if (viewer.user) this.#tabs.postMessage(viewer.user.id);
  }

  /** Leaves nothing of the viewer in this tab, such as drafts. */
  #leave(): void {
    sessionStorage.clear();
    this.#become({ is: 'out' });
  }

  #leaveInEachTab(): void {
    this.#tabs.postMessage(null);
    this.#leave();
  }

  #become(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/**
 * Whose pages are open, also while the sign-in page covers them. Those of a key close with its
 * session: another key of the same name may be limited to other devices.
 */
export function shownViewer(state: SessionState): Viewer | undefined {
  if (state.is === 'in') return state.viewer;
  return state.is === 'out' && state.ended?.user ? state.ended : undefined;
}

/**
 * The same for two sessions of a viewer. The pages of a person stay open with another name or role,
 * so they keep what was typed. Another key may have the same name.
 */
export function viewerId({ name, kind, user, scopes, devices }: Viewer): string {
  return JSON.stringify([kind, user?.id ?? [name, scopes], devices]);
}

function postJson(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(answerMs),
  });
}

/** A server in front of the hub may answer for it. */
async function rejectionIn(answer: Response): Promise<SignInFailure> {
  const body = (await answer.json().catch(() => null)) as { readonly message?: unknown } | null;
  if (answer.status >= 500 || typeof body?.message !== 'string') return { is: 'unreachable' };
  return { is: 'rejected', message: body.message };
}

/** Whether the hub confirmed a sign-out. Whom it no longer knows is signed out already. */
async function isConfirmed(url: string): Promise<boolean> {
  const answer = await postJson(url, {}).catch(() => undefined);
  return answer !== undefined && (answer.ok || answer.status === 401);
}

interface Asked {
  /** Undefined if the hub does not know the viewer. */
  readonly viewer?: Viewer;
  /** After too many failures at this address, the hub says so only after this time. */
  readonly waitMs?: number | undefined;
}

interface ViewerAnswer {
  readonly data?: ViewerQuery | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: unknown; readonly retryAfterMs?: number } }[];
  readonly extensions?: { readonly budget?: unknown };
}

/** Throws if the hub cannot answer. */
async function askViewer(headers: Readonly<Record<string, string>>): Promise<Asked> {
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: stringifyDocument(ViewerDocument) }),
    signal: AbortSignal.timeout(answerMs),
  });
  if (answer.status === 401) return {};
  const { data, errors = [], extensions } = (await answer.json()) as ViewerAnswer;
  if (data) return { viewer: data.viewer };
  const refused = errors.find((error) => error.extensions?.code === 'RATE_LIMITED');
  // Without a budget it is about failures. The hub counts only unknown keys and cookies as such.
  if (refused && !extensions?.budget) return { waitMs: refused.extensions?.retryAfterMs ?? 60_000 };
  throw new Error(`The hub answered ${answer.status}.`);
}
