import { afterEach, describe, expect, it, vi } from 'vitest';
import { readRequest, sendDecision } from './agent-request';

const answerWith = (answer: () => Promise<Response>) => vi.stubGlobal('fetch', answer);
const page = () => Promise.resolve(new Response('<html>Sign in to the network</html>'));

afterEach(() => vi.unstubAllGlobals());

describe('the request of an agent', () => {
  it('is what the hub answers', async () => {
    answerWith(() => Promise.resolve(Response.json({ days: 30 })));
    expect(await readRequest('one')).toEqual({ days: 30 });
  });

  it.each([
    ['expired', () => Promise.resolve(new Response('', { status: 404 }))],
    ['person', () => Promise.resolve(new Response('', { status: 403 }))],
    ['unreachable', () => Promise.resolve(new Response('', { status: 502 }))],
    ['unreachable', () => Promise.reject(new TypeError('no network'))],
    ['unreachable', page],
  ])('is %s where the hub does not give it', async (problem, answer) => {
    answerWith(answer);
    expect(await readRequest('one')).toBe(problem);
    answerWith(answer);
    expect(await sendDecision('one', { decision: 'deny' })).toBe(problem);
  });
});
