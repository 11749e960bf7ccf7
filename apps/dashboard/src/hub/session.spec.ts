import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { authorization, Session } from './session';

const viewer = { name: 'ada', scopes: ['DEVICES_READ'] };
const known = () => Response.json({ data: { viewer } });
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
  });
  vi.stubGlobal('location', { pathname: '/', search: '' });
});
afterEach(() => void vi.unstubAllGlobals());

describe('a session of the console', () => {
  it('keeps a key only after the hub has accepted it', async () => {
    const session = new Session();
    serve({ '/graphql': unknown });
    expect(await session.signInByKey('wrong')).toEqual({ is: 'refused' });
    expect(authorization()).toEqual({});
    serve({ '/graphql': known });
    expect(await session.signInByKey('right')).toBeUndefined();
    expect(authorization()).toEqual({ authorization: 'Bearer right' });
    expect(session.state()).toMatchObject({ is: 'in', viewer });
  });

  it.each([
    [401, { is: 'refused' }],
    [503, { is: 'unreachable' }],
    [429, { is: 'slow-down', seconds: 7 }],
  ])('reports a password that was answered with %i', async (status, failure) => {
    serve({ '/api/sign-in': () => new Response('', { status, headers: { 'retry-after': '7' } }) });
    const session = new Session();
    expect(await session.signInByPassword('ada@hub.test', 'secret')).toEqual(failure);
    expect(session.state()).toEqual({ is: 'opening' });
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
    expect(await open({})).toEqual({ is: 'unreachable' });
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
    serve({ '/graphql': known });
    const session = new Session();
    await session.signInByKey('right');
    session.end();
    for (const answer of [unknown, () => Response.json({ data: { viewer: { ...viewer, name: 'bob' } } })]) {
      serve({ '/graphql': answer });
      await session.resume();
      expect(session.state()).toEqual({ is: 'out', ended: viewer });
    }
    serve({ '/graphql': known });
    await session.resume();
    expect(session.state()).toEqual({ is: 'in', viewer });
    await session.signOut();
    await session.resume();
    expect(session.state()).toEqual({ is: 'out' });
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
