/** What the device answers, and what it meets with silence. [xiaozhi §4.1, §4.2, §4.3] */
import { describe, expect, it } from 'vitest';
import { DeviceOnBench } from '../device-on-bench.suite.js';

const request = { jsonrpc: '2.0', id: 1, method: 'initialize' };

describe('acceptance of requests', () => {
  it.each([
    ['no JSON', '{"type":"mcp"'],
    ['no object', '[1]'],
    ['an unknown type', { type: 'iot', payload: request }],
    ['a batch', { type: 'mcp', payload: [request] }],
    ['a missing version', { type: 'mcp', payload: { ...request, jsonrpc: undefined } }],
    ['another version', { type: 'mcp', payload: { ...request, jsonrpc: '1.0' } }],
    ['a version that is a number', { type: 'mcp', payload: { ...request, jsonrpc: 2 } }],
    ['a response', { type: 'mcp', payload: { jsonrpc: '2.0', id: 1, result: {} } }],
    ['a notification with an id', { type: 'mcp', payload: { ...request, method: 'notificationsXyz' } }],
    ['null params', { type: 'mcp', payload: { ...request, params: null } }],
    ['array params', { type: 'mcp', payload: { ...request, params: [] } }],
    ['a string id', { type: 'mcp', payload: { ...request, id: '1' } }],
    ['a null id', { type: 'mcp', payload: { ...request, id: null } }],
    ['a missing id', { type: 'mcp', payload: { ...request, id: undefined } }],
  ])('says nothing to %s', (_name, message) => {
    const bench = new DeviceOnBench();
    bench.receive(message);
    expect(bench.sent).toEqual([]);
  });

  it.each([
    [1.9, 1],
    [-1.9, -1],
    [0, 0],
    [1e3, 1000],
    [3e9, 2147483647],
    [-3e9, -2147483648],
  ])('echoes id %d as %d', (id, echoed) => {
    const bench = new DeviceOnBench();
    bench.mcp({ ...request, id });
    expect(bench.lastReply().payload.id).toBe(echoed);
  });

  it('names the board and the firmware in the exact words of the firmware', () => {
    const bench = new DeviceOnBench();
    bench.mcp(request);
    expect(bench.sent).toEqual([
      '{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","' +
        'capabilities":{"tools":{}},"serverInfo":{"name":"lichuang-dev","version":"2.4.2"}}}}',
    ]);
  });

  it('answers another method with an error that has a message and no code', () => {
    const bench = new DeviceOnBench();
    bench.mcp({ ...request, method: 'ping' });
    expect(bench.lastReply().payload.error).toEqual({ message: 'Method not implemented: ping' });
  });

  it('pastes names into error texts unescaped, so that the frame is no JSON', () => {
    const bench = new DeviceOnBench();
    bench.call(5, 'self."quoted"');
    expect(bench.sent[0]).toContain('Unknown tool: self."quoted"');
    expect(() => JSON.parse(bench.sent[0] ?? '')).toThrow(SyntaxError);
  });

  it('matches member names without case and takes the first of several', () => {
    const bench = new DeviceOnBench();
    bench.receive(
      '{"TYPE":"mcp","payload":{"jsonrpc":"2.0","ID":4,"method":"tools/call","params":{"NAME":"self.set_press_to_' +
        'talk","name":"self.nope","arguments":{"MODE":"press_to_talk"}}}}',
    );
    expect(bench.lastText()).toBe('true');
  });

  it('ends strings at NUL, so that a disguised name reaches the tool', () => {
    const bench = new DeviceOnBench({ profile: 'lamp' });
    bench.call(1, 'self.lamp.turn_on\u0000harmless');
    expect([...bench.device.toolCounts]).toEqual([['self.lamp.turn_on', 1]]);
  });
});
