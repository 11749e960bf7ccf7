import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boardsOfDump } from './boards-of-dump.js';
import { readApi } from './read-api.js';

const answers: Readonly<Record<string, unknown>> = {
  '/xiaozhi/agent/list': { code: 0, data: [{ id: 'a1', agentName: 'Guide', systemPrompt: 'long' }, { id: 'a2' }] },
  '/xiaozhi/device/bind/a1': {
    code: 0,
    data: [{ id: '02:00:00:00:00:01', macAddress: '02:00:00:00:00:01', alias: 'Hall', board: 'lichuang-dev' }],
  },
  '/xiaozhi/device/bind/a2': { code: 0, data: [] },
};

let server: Server;
let from: string;
beforeEach(async () => {
  server = createServer(({ headers, url = '' }, response) => {
    const isSignedIn = headers.authorization === 'Bearer right';
    response.end(JSON.stringify(isSignedIn ? (answers[url] ?? { code: 404, msg: 'none' }) : { code: 401 }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  from = `http://127.0.0.1:${(server.address() as AddressInfo).port}/xiaozhi/`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('the API of the former server', () => {
  it('names the boards of an account by agent', async () => {
    const { boards, problems } = boardsOfDump(await readApi({ from, token: 'right' }), { timeZone: 'Asia/Shanghai' });
    expect(boards).toMatchObject([{ deviceId: '02:00:00:00:00:01', name: 'Hall', tags: ['agent:Guide'] }]);
    expect(problems).toEqual([]);
  });

  it('is refused with what to do, and without the token', async () => {
    await expect(readApi({ from, token: 'wrong' })).rejects.toThrow('Sign in to that console again');
    await expect(readApi({ from: from.replace('/xiaozhi', ''), token: 'right' })).rejects.toThrow('ends with /xiaozhi');
    await expect(readApi({ from: 'http://127.0.0.1:1', token: 'right' })).rejects.toThrow(/^((?!right).)*$/);
  });
});
