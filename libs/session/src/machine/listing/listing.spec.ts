import { describe, expect, it } from 'vitest';
import { MachineBench, noTools } from '../machine-bench.suite.js';
import { defaultSessionLimits } from '../../session-limits.js';

describe('listing', () => {
  const page = (name: string, cursor?: string) =>
    `"result":{"tools":[{"name":"${name}"}]${cursor === undefined ? '' : `,"nextCursor":"${cursor}"`}}`;

  it('requests page after page with the cursor and user-only tools', () => {
    const bench = new MachineBench().makeReady(page('a', 'b'));
    bench.answer(page('b'));
    expect(
      bench
        .sent()
        .map(({ params }) => params)
        .slice(2),
    ).toEqual([{ withUserTools: true }, { cursor: 'b', withUserTools: true }]);
    expect(bench.kinds('toolsDiscovered')).toMatchObject([
      { discovered: { isComplete: true, tools: [{ name: 'a' }, { name: 'b' }] } },
    ]);
  });

  it('restarts once when a later page fails, then keeps what it has', () => {
    const bench = new MachineBench().makeReady(page('a', 'b'));
    const failure = '"error":{"message":"Failed to add tool  because of payload size limit"}';
    bench.answer(failure);
    expect(bench.sent().at(-1)?.params).toEqual({ withUserTools: true });
    bench.answer(page('a', 'b'));
    bench.answer(failure);
    expect(bench.state.phase).toBe('ready');
    expect(bench.anomalies()).toEqual(['listing_incomplete']);
    expect(bench.kinds('toolsDiscovered')).toMatchObject([
      { discovered: { isComplete: false, tools: [{ name: 'a' }] } },
    ]);
  });

  it.each(['"error":{"message":"no"}', '"result":{}', '"result":1,"error":2'])(
    'repeats the request if the first page is %s, then becomes ready',
    (members) => {
      const bench = new MachineBench().makeReady(members);
      expect(bench.state.phase).toBe('discovering');
      bench.answer(members);
      expect(bench.kinds('discoveryFailed')).toHaveLength(1);
      expect(bench.state.phase).toBe('ready');
    },
  );

  it('repeats the request if the first page never arrives, then becomes ready', () => {
    const bench = new MachineBench();
    bench.put({ kind: 'start' });
    bench.answer('"result":{}');
    bench.pass(defaultSessionLimits.listingTimeoutMs);
    expect(bench.sent().at(-1)).toMatchObject({ method: 'tools/list', params: { withUserTools: true } });
    bench.pass(defaultSessionLimits.listingTimeoutMs);
    expect(bench.kinds('discoveryFailed')).toHaveLength(1);
    expect(bench.state.phase).toBe('ready');
  });

  it('needs only one answer to its two requests', () => {
    const bench = new MachineBench();
    bench.put({ kind: 'start' });
    bench.answer('"result":{}');
    bench.pass(defaultSessionLimits.listingTimeoutMs);
    bench.answer(page('a'));
    expect(bench.kinds('toolsDiscovered')).toMatchObject([
      { discovered: { isComplete: true, tools: [{ name: 'a' }] } },
    ]);
  });

  it('lists again between calls on request, before waiting calls', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a');
    bench.call('b');
    bench.put({ kind: 'refresh' });
    bench.answer('"result":{"content":[]}');
    expect(bench.sent().at(-1)?.method).toBe('tools/list');
    bench.answer(noTools);
    expect(bench.kinds('toolsDiscovered')).toHaveLength(2);
    expect(bench.sent().at(-1)?.method).toBe('tools/call');
  });

  it('lists again when the device no longer has a tool', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a');
    bench.answer('"error":{"message":"Unknown tool: t"}');
    expect(bench.outcomes()).toEqual([['a', 'FAILED', 'TOOL_GONE', 'YES']]);
    expect(bench.sent().at(-1)?.method).toBe('tools/list');
  });
});
