import type { ToolResult } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { SampleEvents } from './sample-events.js';

const poll = { tool: 'leaf_wetness', arguments: {}, everyMs: 5_000, pin: undefined };

function read(answer: string) {
  const result: ToolResult = { content: [{ type: 'text', text: answer }], isError: false };
  return new SampleEvents({ samplesPerEventMax: 400, sampleBytesMax: 4_096 }).read(poll, result, 0);
}

describe('the interval of a series', () => {
  it.each([
    ['500', 500],
    ['86400000', 86_400_000],
    ['1e15', 86_400_000],
    ['1e308', 86_400_000],
    ['1e999', 86_400_000],
    ['0', 1_000],
    ['-5', 1_000],
    ['"500"', 1_000],
  ])('%s is read as %j', (intervalMs, expected) => {
    expect(read(`{"type":"buffer","values":[1,2],"sample_interval_ms":${intervalMs}}`)).toMatchObject({
      intervalMs: expected,
      values: [1, 2],
    });
  });
});
