import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keyOf, openApi, type OpenApi } from '../mount/mounted-api.suite.js';

let api: OpenApi;
const tools: string[] = [];
let whileFirstRuns: () => void = () => undefined;

beforeAll(async () => {
  api = await openApi({
    callTool: async ({ tool }) => {
      tools.push(tool);
      if (tool === 'first') whileFirstRuns();
      return { refusal: { code: 'DEVICE_OFFLINE', message: 'Not connected.', path: ['input', 'deviceId'] } };
    },
  });
});

afterAll(() => api.close());

beforeEach(() => {
  tools.length = 0;
  whileFirstRuns = () => undefined;
});

const twoCalls = `mutation {
  one: callTool(input: {deviceId: "d", tool: "first"}) { userErrors { code } }
  two: callTool(input: {deviceId: "d", tool: "second"}) { userErrors { code } } }`;

/** Sends the second half of the body after `meanwhile`, and resolves to the answer. */
async function sendSlowly(key: string, query: string, meanwhile: () => void): Promise<string> {
  const { hostname, port } = new URL(api.httpUrl);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  const body = JSON.stringify({ query });
  const half = Math.floor(body.length / 2);
  const head = `host: hub\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  socket.write(`POST /graphql HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body.slice(0, half)}`);
  await pause(300);
  meanwhile();
  socket.write(body.slice(half));
  await once(socket, 'close');
  return answer;
}

describe('rights that end during an operation', () => {
  it('are not those of a request whose body is complete only afterwards', async () => {
    const key = keyOf(['TOOLS_CALL']);
    expect(await sendSlowly(key, twoCalls, () => undefined)).toContain('200 OK');
    expect(tools.splice(0)).toEqual(['first', 'second']);
    const answer = await sendSlowly(key, twoCalls, () => api.revoke(key));
    expect(answer).toContain('401 Unauthorized');
    expect(tools).toEqual([]);
  });

  it('are not those of the next mutation in it, over HTTP', async () => {
    const key = keyOf(['TOOLS_CALL', 'JOBS_READ']);
    whileFirstRuns = () => api.revoke(key);
    const { codes } = await api.post({ query: twoCalls }, { authorization: `Bearer ${key}` });
    expect({ codes, tools }).toEqual({ codes: ['UNAUTHENTICATED'], tools: ['first'] });
  });

  it('are not those of the next mutation in it, over WebSocket', async () => {
    const key = keyOf(['TOOLS_CALL', 'EVENTS_READ']);
    whileFirstRuns = () => api.revoke(key);
    const client = api.client(key);
    const { value } = await client.iterate({ query: twoCalls }).next();
    await client.dispose();
    expect(value).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    expect(tools).toEqual(['first']);
  });

  it('end it also where only some of them are gone, but not where there are more', async () => {
    const key = keyOf(['TOOLS_CALL', 'DEVICES_READ']);
    whileFirstRuns = () => api.narrow(key, 'ADMIN');
    expect(await api.post({ query: twoCalls }, { authorization: `Bearer ${key}` })).toMatchObject({ codes: [] });
    expect(tools.splice(0)).toEqual(['first', 'second']);
    whileFirstRuns = () => api.narrow(key, 'TOOLS_CALL');
    const { codes } = await api.post({ query: twoCalls }, { authorization: `Bearer ${key}` });
    expect({ codes, tools }).toEqual({ codes: ['FORBIDDEN'], tools: ['first'] });
  });
});
