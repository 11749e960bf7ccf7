/** Models invent cursors: the error says so, and the log of the hub stays quiet. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminKey, openApi, type OpenApi } from '../mount/mounted-api.suite.js';

let api: OpenApi;

beforeAll(async () => {
  api = await openApi();
});

afterAll(() => api.close());

const position = Buffer.from(JSON.stringify({ after: 'invented' })).toString('base64url');

it.each([
  ['tools/call', { name: 'find_devices', arguments: { after: 'invented' } }],
  ['tools/call', { name: 'recurring_jobs', arguments: { after: 'invented' } }],
  ['tools/call', { name: 'desired_states', arguments: { after: 'invented' } }],
  ['tools/call', { name: 'list_alerts', arguments: { after: 'invented' } }],
  ['tools/list', { cursor: position }],
  ['resources/list', { cursor: 'invented' }],
])('%s with %j has wrong parameters', async (method, params) => {
  const response = await fetch(`${api.httpUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const [, message = '{}'] = /^data: (.*)$/m.exec(await response.text()) ?? [];
  const error = { code: -32602, message: expect.stringMatching(/not a cursor of the .* list/) };
  expect(JSON.parse(message)).toMatchObject({ error });
  expect(api.failures).toEqual([]);
});
