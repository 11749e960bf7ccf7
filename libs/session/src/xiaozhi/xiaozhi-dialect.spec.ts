import { describe, expect, it } from 'vitest';
import { XiaozhiDialect } from './xiaozhi-dialect.js';

const dialect = new XiaozhiDialect();
const answer = (id: number, members: string) =>
  `{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},${members}}}`;

describe('a message to a xiaozhi device', () => {
  it('is MCP in the envelope', () => {
    expect(JSON.parse(String(dialect.encodeCall(7, 'self.screen.set_theme', { theme: 'dark' })))).toEqual({
      type: 'mcp',
      payload: {
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: { name: 'self.screen.set_theme', arguments: { theme: 'dark' } },
      },
    });
    expect(JSON.parse(dialect.encodePageRequest(8, 'self.reboot'))).toMatchObject({
      payload: { id: 8, method: 'tools/list', params: { cursor: 'self.reboot', withUserTools: true } },
    });
  });

  it('contains the vision service in the greeting', () => {
    const withVision = new XiaozhiDialect({ vision: { url: 'https://hub/vision', token: 't' } });
    expect(JSON.parse(withVision.encodeGreeting(1))).toMatchObject({
      payload: {
        method: 'initialize',
        params: { capabilities: { vision: { url: 'https://hub/vision', token: 't' } } },
      },
    });
  });

  it('repeats the session id after a hello assigned one', () => {
    const greeted = new XiaozhiDialect();
    greeted.setSessionId('s-1');
    expect(JSON.parse(greeted.encodeGreeted())).toEqual({
      session_id: 's-1',
      type: 'mcp',
      payload: { jsonrpc: '2.0', method: 'notifications/initialized' },
    });
  });

  it('never contains a tool name that would break the answer', () => {
    expect(dialect.encodeCall(1, 'a"b', {})).toMatchObject({ code: 'TOOL_UNKNOWN' });
  });
});

describe('a message of a xiaozhi device', () => {
  it('is read as an answer, with a code only if the device gave one', () => {
    expect(dialect.read(answer(7, '"result":{"a":1}'))).toEqual({ kind: 'result', id: 7, result: { a: 1 } });
    expect(dialect.read(answer(7, '"error":{"message":"Unknown tool: x"}'))).toEqual({
      kind: 'error',
      id: 7,
      error: { message: 'Unknown tool: x', rpcCode: undefined, isToolGone: true },
    });
    expect(dialect.read(answer(7, '"error":{"code":-5,"message":"no"}'))).toMatchObject({
      error: { rpcCode: -5, isToolGone: false },
    });
  });

  it('is garbled, with the id if it is readable', () => {
    expect(dialect.read(answer(7, '"error":{"message":"a"b"}'))).toMatchObject({
      kind: 'garbled',
      id: 7,
      anomaly: 'unparseable_message',
    });
    expect(dialect.read(answer(7, '"note":1'))).toMatchObject({ kind: 'garbled', id: 7, anomaly: 'invalid_json_rpc' });
    expect(dialect.read('{"type":"mcp"}')).toMatchObject({
      kind: 'garbled',
      id: undefined,
      anomaly: 'invalid_envelope',
    });
  });

  it('is passed on if it is not MCP, whether its type is known or not', () => {
    expect(dialect.read('{"type":"listen","state":"stop"}')).toMatchObject({
      kind: 'message',
      type: 'listen',
      isKnown: true,
    });
    expect(dialect.read('{"type":"hello"}')).toMatchObject({ kind: 'message', type: 'hello', isKnown: true });
    expect(dialect.read('{"type":"dance"}')).toMatchObject({ kind: 'message', type: 'dance', isKnown: false });
  });
});

describe('pageTextOf', () => {
  it('yields the result without parsing if it is written as firmware does', () => {
    expect(dialect.pageTextOf(answer(12, '"result":{"tools":[]}'), 12)).toBe('{"tools":[]}');
  });

  it('is parsed in any other form', () => {
    expect(dialect.pageTextOf(answer(12, '"result":{"tools":[]}'), 13)).toBeUndefined();
    expect(dialect.pageTextOf(answer(12, '"error":{"message":""}'), 12)).toBeUndefined();
    expect(dialect.pageTextOf(`${answer(12, '"result":{"tools":[]}')} `, 12)).toBeUndefined();
  });
});
