import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { authorization, Session, shownViewer } from './session';

const viewer = { name: 'ada', scopes: ['DEVICES_READ'] };
const known = () => Response.json({ data: { viewer } });
const person = (name: string) => ({ name, kind: 'USER', scopes: ['DEVICES_READ'], user: { id: `id of ${name}` } });
const ada = person('ada');
const bob = person('bob');
const as = (user: typeof ada) => ({
  '/graphql': () => Response.json({ data: { viewer: user } }),
  '/api/sign-in': () => Response.json({}),
  '/api/sign-out': () => Response.json({}),
});
/** Of the hub for an unknown key or cookie, after too many of them from this address. */
const tooMany = () =>
  Response.json({ errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterMs: 6_500 } }] }, { status: 429 });
const unknown = () => new Response('', { status: 401 });

/** Answers each request by its path; a path without an answer is a lost network. */
function serve(answers: Readonly<Record<string, () => Response>>): { readonly paths: string[] } {
  const paths: string[] = [];
  vi.stubGlobal('fetch', (path: string) => {
    paths.push(path);
    const answer = answers[path];
    return answer ? Promise.resolve(answer()) : Promise.reject(new TypeError('no network'));
  });
  return { paths };
}

/** Delivers at once, to all but the sender. */
class Tabs {
  static readonly open: Tabs[] = [];
  onmessage: (event: { readonly data: unknown }) => void = () => undefined;

  constructor() {
    Tabs.open.push(this);
  }

  postMessage(data: unknown): void {
    for (const tab of Tabs.open) if (tab !== this) tab.onmessage({ data });
  }
}

function heldAnswer() {
  let answer: (response: Response) => void = () => undefined;
  const promise = new Promise<Response>((resolve) => (answer = resolve));
  return { promise, answer: (response: Response) => answer(response) };
}

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    clear: () => kept.clear(),
  });
  Tabs.open.length = 0;
  vi.stubGlobal('BroadcastChannel', Tabs);
  vi.stubGlobal('location', { pathname: '/', search: '' });
});
afterEach(() => void vi.unstubAllGlobals());

describe('a session of the console', () => {
  it('keeps a key only after the hub has accepted it', async () => {
    const session = new Session();
    serve({ '/graphql': unknown });
    expect(await session.signInByKey('wrong')).toEqual({ is: 'refused', by: 'key' });
    expect(authorization()).toEqual({});
    serve({ '/graphql': known });
    expect(await session.signInByKey('right')).toBeUndefined();
    expect(authorization()).toEqual({ authorization: 'Bearer right' });
    expect(session.state()).toMatchObject({ is: 'in', viewer });
  });

  it.each([
    [401, { is: 'refused', by: 'password' }],
    [503, { is: 'unreachable' }],
    [429, { is: 'slow-down', seconds: 7 }],
  ])('reports a password that was answered with %i', async (status, failure) => {
    serve({ '/api/sign-in': () => new Response('', { status, headers: { 'retry-after': '7' } }) });
    const session = new Session();
    expect(await session.signInByPassword('ada@hub.test', 'secret')).toEqual(failure);
    expect(session.state()).toEqual({ is: 'opening' });
  });

  it('says when an unknown key may be tried again after too many failures', async () => {
    serve({ '/graphql': tooMany });
    expect(await new Session().signInByKey('wrong')).toEqual({ is: 'slow-down', seconds: 7 });
  });

  it('repeats why the hub takes no password, unless the password is the reason', async () => {
    const refusal = { code: 'FORBIDDEN', message: 'Only pages of this hub may sign in.' };
    serve({ '/api/sign-in': () => Response.json(refusal, { status: 403 }) });
    const signIn = () => new Session().signInByPassword('ada@hub.test', 'secret');
    expect(await signIn()).toEqual({ is: 'rejected', message: refusal.message });
    serve({ '/api/sign-in': () => new Response('<html>', { status: 404 }) });
    expect(await signIn()).toEqual({ is: 'unreachable' });
    serve({ '/api/sign-in': () => Response.json({}), '/graphql': unknown });
    expect(await signIn()).toEqual({ is: 'not-kept' });
  });

  it('opens as signed out, signed in or unreachable', async () => {
    const open = async (answers: Parameters<typeof serve>[0]) => {
      serve(answers);
      const session = new Session();
      await session.open();
      return session.state();
    };
    expect(await open({ '/graphql': known })).toMatchObject({ is: 'in' });
    expect(await open({ '/graphql': unknown })).toEqual({ is: 'out' });
    expect(await open({ '/graphql': tooMany })).toEqual({ is: 'out' });
    expect(await open({})).toEqual({ is: 'unreachable' });
    const [error, budget] = [{ extensions: { code: 'RATE_LIMITED', retryAfterMs: 900 } }, { cost: 1 }];
    const overBudget = () => Response.json({ errors: [error], extensions: { budget } }, { status: 429 });
    expect(await open({ '/graphql': overBudget })).toEqual({ is: 'unreachable' });
    expect(await open({ '/graphql': () => Response.json({ data: null }) })).toEqual({ is: 'unreachable' });
  });

  it('opens once where it is asked to while the hub has not answered yet', async () => {
    const { promise, answer } = heldAnswer();
    const requests = vi.fn(() => promise);
    vi.stubGlobal('fetch', requests);
    const session = new Session();
    const attempts = [session.open(), session.open()];
    answer(known());
    await Promise.all(attempts);
    expect(requests).toHaveBeenCalledTimes(1);
    expect(session.state()).toMatchObject({ is: 'in' });
    await session.open();
    expect(requests).toHaveBeenCalledTimes(2);
  });

  it('ends a cookie at the hub, and a key only in this tab', async () => {
    const { paths } = serve({ '/graphql': known, '/api/sign-out': () => new Response('') });
    const session = new Session();
    await session.signInByKey('right');
    await session.signOut();
    expect([paths, authorization()]).toEqual([['/graphql'], {}]);
    await session.signOut();
    expect(paths.at(-1)).toBe('/api/sign-out');
    expect(session.state()).toEqual({ is: 'out' });
  });

  it.each([
    ['an error', { '/api/sign-out': () => new Response('', { status: 503 }) }],
    ['no answer', {}],
  ])('says that the hub may know it still after %s to a sign-out', async (_, answers) => {
    serve({ '/graphql': () => Response.json({ data: { viewer: ada } }), ...answers });
    const session = new Session();
    await session.open();
    await session.signOut();
    expect(session.state()).toEqual({ is: 'out', isUnconfirmed: true });
    serve({ '/api/sign-out': unknown });
    await session.signOut();
    expect(session.state()).toEqual({ is: 'out' });
  });

  it('does not wait without end for the answer to a sign-out', async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => {
      signals.push(signal);
      return Promise.reject(new DOMException('late', 'TimeoutError'));
    });
    await new Session().signOut();
    expect(signals).toEqual([expect.any(AbortSignal)]);
  });

  it('is over for a viewer whom the hub rejects, and says so only to one who was signed in', async () => {
    serve({ '/graphql': known });
    const session = new Session();
    session.end();
    expect(session.state()).toEqual({ is: 'opening' });
    await session.signInByKey('right');
    session.end();
    expect([session.state(), authorization()]).toEqual([{ is: 'out', ended: viewer }, {}]);
  });

  it('goes on where the same person has signed in again elsewhere', async () => {
    serve(as(ada));
    const session = new Session();
    await session.signInByPassword('ada@hub.test', 'secret');
    session.end();
    sessionStorage.setItem('draft', 'x');
    serve({ '/graphql': unknown });
    await session.resume();
    expect(session.state()).toEqual({ is: 'out', ended: ada });
    serve(as(ada));
    await new Session().signInByPassword('ada@hub.test', 'secret');
    await expect.poll(session.state).toEqual({ is: 'in', viewer: ada });
    expect(sessionStorage.getItem('draft')).toBe('x');
    await session.signOut();
    await session.resume();
    expect(session.state()).toEqual({ is: 'out' });
  });

  it.each([
    ['the end', (session: Session) => (session.end(), session.resume())],
    ['a lost connection', (session: Session) => session.renew()],
  ])('leaves nothing of a person to the next one after %s', async (_, goOn) => {
    serve(as(ada));
    const session = new Session();
    await session.signInByPassword('ada@hub.test', 'secret');
    sessionStorage.setItem('draft', 'x');
    serve(as(bob));
    await goOn(session);
    expect([session.state(), sessionStorage.getItem('draft')]).toEqual([{ is: 'in', viewer: bob }, null]);
  });

  it.each([true, false])('leaves nothing after a sign-out in another tab, also after its end (%s)', async (isEnded) => {
    serve(as(ada));
    const session = new Session();
    await session.open();
    if (isEnded) session.end();
    const key = new Session();
    serve({ '/graphql': known });
    await key.signInByKey('right');
    sessionStorage.removeItem('flotilla.key');
    const tab = new Session();
    serve(as(ada));
    await tab.open();
    sessionStorage.setItem('draft', 'x');
    const out = tab.signOut();
    expect([session.state(), tab.state(), sessionStorage.getItem('draft')]).toEqual([
      { is: 'out' },
      { is: 'opening' },
      null,
    ]);
    await out;
    expect([tab.state(), key.state()]).toMatchObject([{ is: 'out' }, { is: 'in' }]);
  });

  it('follows another person who signs in in another tab', async () => {
    serve(as(ada));
    const session = new Session();
    await session.open();
    serve(as(bob));
    await new Session().signInByPassword('bob@hub.test', 'secret');
    expect(session.state()).toEqual({ is: 'out' });
    await expect.poll(session.state).toEqual({ is: 'in', viewer: bob });
  });

  it('has the rights that the hub gives it after the connection was lost', async () => {
    serve(as(ada));
    const session = new Session();
    await session.open();
    const before = session.state();
    await session.renew();
    expect(session.state()).toBe(before);
    serve({});
    await session.renew();
    expect(session.state()).toBe(before);
    const promoted = { ...ada, scopes: ['DEVICES_READ', 'DEVICES_WRITE'] };
    serve(as(promoted));
    await session.renew();
    expect(session.state()).toEqual({ is: 'in', viewer: promoted });
    const renamed = { ...promoted, name: 'Ada' };
    serve(as(renamed));
    await session.renew();
    expect(session.state()).toEqual({ is: 'in', viewer: renamed });
    serve({ '/graphql': unknown });
    await session.renew();
    expect(session.state()).toEqual({ is: 'out', ended: renamed });
    serve(as(ada));
    await session.renew();
    expect(session.state()).toMatchObject({ is: 'out' });
  });

  it('keeps its pages after its end for a person, and not for a key', () => {
    expect(shownViewer({ is: 'out', ended: ada as never })).toBe(ada);
    expect(shownViewer({ is: 'out', ended: { ...viewer, user: null } as never })).toBeUndefined();
  });

  it('leaves nothing where the socket ends before the answer to a sign-out everywhere', async () => {
    const held = heldAnswer();
    serve(as(ada));
    const session = new Session();
    await session.open();
    vi.stubGlobal('fetch', () => held.promise);
    const out = session.signOutEverywhere();
    session.end();
    expect(session.state()).toEqual({ is: 'out' });
    held.answer(new Response('', { status: 401 }));
    await out;
  });

  it('is not ended everywhere before the hub confirms it', async () => {
    const session = new Session();
    serve({ '/graphql': known, '/api/sign-out-everywhere': () => new Response('', { status: 503 }) });
    await session.signInByKey('right');
    expect(await session.signOutEverywhere()).toBe(false);
    expect(session.state()).toMatchObject({ is: 'in' });
    serve({ '/api/sign-out-everywhere': unknown });
    expect(await session.signOutEverywhere()).toBe(true);
    expect(session.state()).toEqual({ is: 'out' });
  });
});
