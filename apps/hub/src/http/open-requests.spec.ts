import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SingleCalls } from '@flotilla/fleet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drainHttp } from './drain-http.js';
import { OpenRequests } from './open-requests.js';

let server: Server;
let openRequests: OpenRequests;
let singleCalls: SingleCalls;
/** The answers that the test has to end, by path. */
let answers: Map<string, ServerResponse>;

beforeEach(async () => {
  openRequests = new OpenRequests();
  singleCalls = new SingleCalls({ now: Date.now });
  answers = new Map();
  server = createServer((request, response) => {
    openRequests.watch(request, response);
    answers.set(request.url ?? '', response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends a request, and waits until the server has it. */
async function ask(path: string): Promise<{ readonly answer: Promise<Response> }> {
  const answer = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
  // The end of the server ends what the test leaves open.
  answer.catch(() => undefined);
  await expect.poll(() => answers.has(path)).toBe(true);
  return { answer };
}

function drain(withinMs = 20_000): { isDone: boolean; readonly done: Promise<void> } {
  const drained = {
    isDone: false,
    done: drainHttp({ withinMs, hasSuccessor: () => false }, { openRequests, singleCalls }),
  };
  void drained.done.then(() => (drained.isDone = true));
  return drained;
}

describe('the last answers of a server that stops', () => {
  it('are awaited until they are sent', async () => {
    const { answer } = await ask('/graphql');
    let isIdle = false;
    const idle = openRequests.idle(20_000).then(() => (isIdle = true));
    expect(isIdle).toBe(false);
    answers.get('/graphql')?.end('{}');
    await idle;
    expect((await answer).status).toBe(200);
    await openRequests.idle(0);
  });

  it('are awaited for a limited time', async () => {
    await ask('/graphql');
    await openRequests.idle(1);
    expect(openRequests.count).toBe(1);
  });
});

describe('the drain of the HTTP server', () => {
  it('waits for the requests that are being answered, but not for streams of agents', async () => {
    await ask('/mcp');
    const { answer } = await ask('/graphql');
    const drained = drain();
    expect([openRequests.count, drained.isDone]).toEqual([1, false]);
    answers.get('/graphql')?.end('{}');
    expect((await answer).status).toBe(200);
    await drained.done;
    expect(openRequests.count).toBe(0);
  });

  it('waits for a single call, which may have come over a WebSocket', async () => {
    let settle: () => void = () => undefined;
    const called = singleCalls.during(() => new Promise<void>((resolve) => (settle = resolve)));
    const drained = drain();
    expect(drained.isDone).toBe(false);
    settle();
    await called;
    await drained.done;
  });

  it('ends after its time, and lets clients close their connections', async () => {
    await ask('/first');
    await drain(1).done;
    const { answer } = await ask('/second');
    answers.get('/second')?.end();
    expect((await answer).headers.get('connection')).toBe('close');
  });
});
