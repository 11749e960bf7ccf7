import { describe, expect, it } from 'vitest';
import { MachineBench } from './machine-bench.suite.js';

const isBackground = true;
const done = '"result":{"content":[{"type":"text","text":"ok"}],"isError":false}';

describe('a background call', () => {
  it('is sent to an idle device', () => {
    const bench = new MachineBench().makeReady();
    bench.call('b', { isBackground });
    bench.answer(done);
    expect(bench.outcomes()).toEqual([['b', 'SUCCEEDED', undefined, 'YES']]);
  });

  it('is not sent while another call is in flight, nor before the session is ready', () => {
    const early = new MachineBench();
    early.put({ kind: 'start' });
    early.call('b', { isBackground });
    expect(early.outcomes()).toEqual([['b', 'NOT_SENT', 'OVERLOADED', 'NEVER']]);
    const busy = new MachineBench().makeReady();
    busy.call('c');
    busy.call('b', { isBackground });
    expect(busy.outcomes()).toEqual([['b', 'NOT_SENT', 'OVERLOADED', 'NEVER']]);
  });

  it('is abandoned for another call, and its answer is not used for that call', () => {
    const bench = new MachineBench().makeReady();
    bench.call('b', { isBackground });
    const id = bench.state.inFlight?.id;
    bench.call('c');
    expect(bench.outcomes()).toEqual([['b', 'UNKNOWN', 'TIMEOUT', 'YES']]);
    expect(bench.state.inFlight).toMatchObject({ kind: 'call', pending: { call: { callId: 'c' } } });
    bench.answer(done, id);
    expect(bench.kinds('lateOutcome')).toEqual([]);
    bench.answer(done);
    expect(bench.outcomes().at(-1)).toEqual(['c', 'SUCCEEDED', undefined, 'YES']);
  });
});
