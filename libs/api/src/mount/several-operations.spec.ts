import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminKey, openApi, type OpenApi } from './mounted-api.suite.js';

let api: OpenApi;
let calls = 0;

beforeAll(async () => {
  api = await openApi({
    callTool: async () => {
      calls += 1;
      return { refusal: { code: 'DEVICE_OFFLINE', message: 'Not connected.', path: ['input', 'deviceId'] } };
    },
  });
});

afterAll(() => api.close());

beforeEach(() => (calls = 0));

const admin = { authorization: `Bearer ${adminKey}` };
const act = { callTool: { userErrors: [{ code: 'DEVICE_OFFLINE' }] } };
const read = { viewer: { kind: 'KEY' } };
const documentOf = (name: string) => `query Read { viewer { kind } }
  mutation Act { callTool(input: {deviceId: "${name}", tool: "t"}) { userErrors { code } } }`;

describe('a document with several operations', () => {
  it('runs the one that each request names, however often the document is sent', async () => {
    const query = documentOf('one');
    const names = ['Act', 'Act', 'Read', 'Read', 'Act', 'Read'];
    const answers = [];
    for (const operationName of names) answers.push((await api.post({ query, operationName }, admin)).data);
    expect(answers).toEqual(names.map((name) => (name === 'Act' ? act : read)));
    expect(calls).toBe(3);
  });

  it('runs no mutation by GET, also after a request by POST has run it', async () => {
    const query = documentOf('two');
    for (let time = 0; time < 3; time += 1) await api.post({ query, operationName: 'Act' }, admin);
    const url = `${api.httpUrl}/graphql?operationName=Read&query=${encodeURIComponent(query)}`;
    expect(await (await fetch(url, { headers: admin })).json()).toMatchObject({ data: read });
    expect(calls).toBe(3);
  });

  it.each(['', '&operationName=', '&operationName=Other'])(
    'gets the same refusal by GET as by POST without one of its names: %s',
    async (name) => {
      const query = documentOf('three');
      const operationName = name === '' ? undefined : name.split('=')[1];
      const { status, codes, messages } = await api.post({ query, operationName }, admin);
      expect({ status, codes }).toEqual({ status: 400, codes: ['BAD_USER_INPUT'] });
      const url = `${api.httpUrl}/graphql?query=${encodeURIComponent(query)}${name}`;
      const answer = await fetch(url, { headers: admin });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        errors: [{ message: messages[0], extensions: { code: 'BAD_USER_INPUT' } }],
      });
      expect(api.failures).toEqual([]);
    },
  );
});

describe('a document with one operation', () => {
  it('does not run where a request names another one, also after it was compiled', async () => {
    const query = 'query Read { viewer { kind } }';
    for (let time = 0; time < 3; time += 1)
      expect((await api.post({ query, operationName: 'Read' }, admin)).data).toEqual(read);
    for (const operationName of ['Other', ''])
      expect(await api.post({ query, operationName }, admin)).toMatchObject({
        status: 400,
        data: undefined,
        messages: [`Unknown operation named "${operationName}".`],
      });
    expect((await api.post({ query }, admin)).data).toEqual(read);
  });
});

describe('a document with several mutations', () => {
  it('returns after each one what is true then', async () => {
    await api.addDevice('lamp');
    const group = { name: 'lit', filter: { tags: ['on'] }, timeZone: undefined, voiceUrls: [] };
    await api.registry.deviceGroups.create(group, { groupsMax: 1, at: Date.now(), by: { actor: 'admin' } });
    const tag = (tags: string) =>
      `updateDevice(input: {deviceId: "lamp", tags: ${tags}}) { device { groups { name } } }`;
    expect((await api.ask(`mutation { on: ${tag('["on"]')} off: ${tag('[]')} }`)).data).toEqual({
      on: { device: { groups: [{ name: 'lit' }] } },
      off: { device: { groups: [] } },
    });
  });
});
