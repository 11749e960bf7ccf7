import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMcpuRequest, readMcpuLine } from './frame.js';

describe('encodeMcpuRequest', () => {
  it('is as short as possible', () => {
    expect(encodeMcpuRequest(2, 'list_tools', {})).toBe('{"jsonrpc":"2.0","id":2,"method":"list_tools"}');
    expect(encodeMcpuRequest(3, 'gpio_write', { pin: 16, value: true })).toBe(
      '{"jsonrpc":"2.0","id":3,"method":"gpio_write","params":{"pin":16,"value":true}}',
    );
  });
});

describe('readMcpuLine', () => {
  it.each([
    [
      'an answer',
      '{"result":{"value":1876},"jsonrpc":"2.0","id":5}',
      { kind: 'result', id: 5, result: { value: 1876 } },
    ],
    ['an answer without a result', '{"jsonrpc":"2.0","id":5}', { kind: 'result', id: 5, result: null }],
    [
      'an error',
      '{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"Wrong pin type"}}',
      { kind: 'error', id: 4, error: { code: -32602, isCodeGiven: true, message: 'Wrong pin type' } },
    ],
    [
      'an error with a code of more than 32 bits',
      '{"jsonrpc":"2.0","id":4,"error":{"code":1e12,"message":"Wrong pin type"}}',
      { kind: 'error', id: 4, error: { code: -32000, isCodeGiven: false, message: 'Wrong pin type' } },
    ],
    [
      'a request that the board could not read',
      '{"jsonrpc":"2.0","id":0,"error":{"code":-32700,"message":"Parse error"}}',
      { kind: 'unread', error: { code: -32700, isCodeGiven: true, message: 'Parse error' } },
    ],
    [
      'a frame directly after a log line',
      'adc ready{"result":7,"jsonrpc":"2.0","id":9}',
      { kind: 'result', id: 9, result: 7 },
    ],
    ['a log line', 'rst:0x1 (POWERON_RESET),boot:0x13', { kind: 'noise' }],
    ['null', 'null', { kind: 'noise' }],
    ['a number', '42', { kind: 'noise' }],
    ['a list', '[{"id":1}]', { kind: 'noise' }],
    [
      'an id that is a string',
      '{"result":1,"id":"5"}',
      { kind: 'strange', problem: 'a frame whose id is not an integer' },
    ],
    ['an error that is a string', '{"id":5,"error":"no"}', { kind: 'strange', problem: '"error" is not an object' }],
  ])('reads %s', (_name, line, frame) => {
    expect(readMcpuLine(line)).toEqual(frame);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        expect(['noise', 'strange', 'result', 'error', 'unread']).toContain(readMcpuLine(line).kind);
      }),
    );
  });
});
