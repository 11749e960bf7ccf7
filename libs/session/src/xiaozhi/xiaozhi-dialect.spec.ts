import { describe, expect, it } from 'vitest';
import { XiaozhiDialect } from './xiaozhi-dialect.js';

const dialect = new XiaozhiDialect();
const answer = (id: number, members: string) =>
  `{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},${members}}}`;

describe('what a xiaozhi device is sent', () => {
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

  it('tells the vision service in the greeting', () => {
    const withVision = new XiaozhiDialect({ vision: { url: 'https://hub/vision', token: 't' } });
    expect(JSON.parse(withVision.encodeGreeting(1))).toMatchObject({
      payload: {
        method: 'initialize',
        params: { capabilities: { vision: { url: 'https://hub/vision', token: 't' } } },
      },
    });
  });

  it('repeats the session id once a hello gave one', () => {
    const greeted = new XiaozhiDialect();
    greeted.setSessionId('s-1');
    expect(JSON.parse(greeted.encodeGreeted())).toEqual({
      session_id: 's-1',
      type: 'mcp',
      payload: { jsonrpc: '2.0', method: 'notifications/initialized' },
    });
  });

  it('is no tool name that would break the answer', () => {
    expect(dialect.encodeCall(1, 'a"b', {})).toMatchObject({ code: 'TOOL_UNKNOWN' });
  });
});

describe('what a xiaozhi device says', () => {
  it('is read as answers, with a code only where the device gave one', () => {
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

  it('is garbled with the id where that is readable', () => {
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

  it('is passed on where it is no MCP, known or not', () => {
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
  it('cuts the result out of an answer written as the firmware does', () => {
    expect(dialect.pageTextOf(answer(12, '"result":{"tools":[]}'), 12)).toBe('{"tools":[]}');
  });

  it('does not look at other answers', () => {
    expect(dialect.pageTextOf(answer(12, '"result":{"tools":[]}'), 13)).toBeUndefined();
    expect(dialect.pageTextOf(answer(12, '"error":{"message":""}'), 12)).toBeUndefined();
    expect(dialect.pageTextOf(`${answer(12, '"result":{"tools":[]}')} `, 12)).toBeUndefined();
  });
});
