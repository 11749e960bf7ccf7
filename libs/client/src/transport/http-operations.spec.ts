import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { defaultClientLimits } from '../client-options.js';
import { FlotillaError } from '../flotilla-error.js';
import { sendOperation } from './http-operations.js';

const query = parse('query Name { viewer { name } }');
const mutation = parse('mutation { removeDevice(deviceId: "a") { deviceId } }');

/** A hub that answers each request with the next of these: a thrown error, or status and body. */
function hubThat(
  ...answers: readonly (Error | readonly [status: number, body: string, headers?: Record<string, string>])[]
) {
  const requests: Request[] = [];
  const peer = {
    graphqlUrl: 'http://hub.test/graphql',
    headers: { authorization: 'Bearer k' },
    limits: { ...defaultClientLimits, backOffMs: 1, backOffMsMax: 2 },
    fetch: async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      requests.push(new Request(url, init));
      const answer = answers[requests.length - 1];
      if (answer === undefined) throw new Error('one request too many');
      if (answer instanceof Error) throw answer;
      const [status, body, headers = {}] = answer;
      return new Response(body, { status, headers });
    },
  };
  return { peer, requests, ask: (document = query) => sendOperation(peer, document, {}, {}) };
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  return error instanceof FlotillaError ? error.code : undefined;
}

const good = [200, '{"data":{"viewer":{"name":"me"}}}'] as const;
const errorOf = (code: string) => JSON.stringify({ data: null, errors: [{ message: 'no', extensions: { code } }] });

describe('an operation over HTTP', () => {
  it('is sent as GraphQL over HTTP says, with the key', async () => {
    const hub = hubThat(good);
    expect(await hub.ask()).toEqual({ viewer: { name: 'me' } });
    const [request] = hub.requests;
    expect(request?.headers.get('authorization')).toBe('Bearer k');
    expect(await request?.json()).toMatchObject({ operationName: 'Name', variables: {} });
  });

  it.each([
    ['a lost connection', new TypeError('fetch failed')],
    ['a hub that is starting, behind a proxy', [503, '<html>Service Unavailable</html>'] as const],
    ['a database that is away', [503, errorOf('UNAVAILABLE')] as const],
    ['too many requests', [429, errorOf('RATE_LIMITED'), { 'retry-after': '0' }] as const],
  ])('is repeated after %s, if it is a query', async (_what, failure) => {
    const hub = hubThat(failure, failure, good);
    expect(await hub.ask()).toEqual({ viewer: { name: 'me' } });
    expect(await codeOf(hubThat(failure, good).ask(mutation))).toMatch(/UNREACHABLE|UNAVAILABLE|RATE_LIMITED/);
  });

  it('says that a port without TLS needs an address with http', async () => {
    const cause = Object.assign(new Error('0A00010B:SSL routines:\n'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' });
    await expect(hubThat(new TypeError('fetch failed', { cause })).ask(mutation)).rejects.toThrow(
      'cannot be reached: the port has no TLS. Use an address that begins with http://.',
    );
  });

  it('is given up after as many attempts as allowed', async () => {
    const hub = hubThat(...Array.from({ length: 9 }, () => new TypeError('fetch failed')));
    expect(await codeOf(hub.ask())).toBe('UNREACHABLE');
    expect(hub.requests).toHaveLength(defaultClientLimits.attemptsMax);
  });

  it.each([
    [[401, errorOf('UNAUTHENTICATED')] as const, 'UNAUTHENTICATED'],
    [[400, errorOf('BAD_USER_INPUT')] as const, 'BAD_USER_INPUT'],
    [[200, errorOf('FORBIDDEN')] as const, 'FORBIDDEN'],
    [[200, '<html>Welcome to nginx'] as const, 'BAD_RESPONSE'],
    [[200, '[]'] as const, 'BAD_RESPONSE'],
    [[200, '{"errors":"all"}'] as const, 'BAD_RESPONSE'],
    [[404, ''] as const, 'BAD_RESPONSE'],
  ])('is not repeated after %j, which is %s', async (answer, code) => {
    const hub = hubThat(answer);
    expect(await codeOf(hub.ask())).toBe(code);
    expect(hub.requests).toHaveLength(1);
  });

  it('keeps what came beside an error', async () => {
    const hub = hubThat([200, '{"data":{"viewer":null},"errors":[{"message":"a"},{"message":"b"}]}']);
    const error: unknown = await hub.ask().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'BAD_RESPONSE', message: 'a\nb', data: { viewer: null }, status: 200 });
  });
});
