import { describe, expect, it } from 'vitest';
import { McpuDialect } from '../mcpu/mcpu-dialect.js';
import { MachineBench } from './machine-bench.suite.js';

const alert = { tool: 'hub.alert', arguments: { message: 'Hello', emotion: 'happy' } };
const proof = (bench: MachineBench) => {
  const [effect] = bench.kinds('send').slice(-1);
  return effect?.kind === 'send' && effect.proof !== undefined ? JSON.parse(effect.proof) : undefined;
};

describe('a banner of the hub', () => {
  it('is followed by a greeting that changes nothing', () => {
    const bench = new MachineBench().makeReady();
    bench.call('c', alert);
    expect(bench.kinds('send').at(-1)).toMatchObject({
      text: '{"type":"alert","status":"Notice","message":"Hello","emotion":"happy"}',
    });
    expect(proof(bench)).toMatchObject({
      type: 'mcp',
      payload: { method: 'initialize', id: bench.state.inFlight?.id, params: { capabilities: {} } },
    });
    expect(bench.settled).toEqual([]);
  });

  it('succeeds with the answer to that greeting', () => {
    const bench = new MachineBench().makeReady();
    bench.call('c', alert);
    bench.answer('"result":{"serverInfo":{"name":"b","version":"1"}}');
    expect(bench.settled[0]?.outcome).toEqual({
      kind: 'SUCCEEDED',
      certainty: 'YES',
      result: { content: [{ type: 'text', text: 'true' }], isError: false },
    });
  });

  it('ends unknown without an answer, and reports a late one', () => {
    const bench = new MachineBench().makeReady();
    bench.call('c', { ...alert, callTimeoutMs: 1000 });
    const id = bench.state.inFlight?.id;
    bench.pass(1000);
    expect(bench.outcomes()).toEqual([['c', 'UNKNOWN', 'TIMEOUT', 'YES']]);
    bench.answer('"result":{}', id);
    expect(bench.kinds('lateOutcome')).toMatchObject([{ late: { callId: 'c', outcome: { kind: 'SUCCEEDED' } } }]);
  });

  it('ends not sent if the transport accepted nothing', () => {
    const bench = new MachineBench().makeReady();
    bench.call('c', alert);
    bench.put({ kind: 'sendFailed', id: bench.state.inFlight?.id ?? 0 });
    expect(bench.outcomes()).toEqual([['c', 'NOT_SENT', 'DEVICE_OFFLINE', 'NEVER']]);
  });
});

describe('a board without a screen', () => {
  it('does not receive a banner', () => {
    expect(new McpuDialect().encodeCall(1, 'hub.alert', { message: 'Hello' })).toMatchObject({ code: 'TOOL_UNKNOWN' });
  });
});
