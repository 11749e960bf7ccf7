import { linkedPair } from '@flotilla/mcp';
import type { CallId, DiscoveredTools } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../clock/manual-clock.js';
import { SessionActor } from '../session-actor.js';
import type { SettledCall } from '../session-contract.js';
import { McpuDialect } from './mcpu-dialect.js';

const listing = {
  device: 'greenhouse',
  version: '2.3.1',
  tools: [{ name: 'gpio_write', description: 'Set an output' }],
  pins: [{ pin: 16, name: 'valve', type: 'digital_output', description: 'Bed valve' }],
};

/**
 * A board that prints a log line before each answer, greets and lists, and leaves calls to the
 * test.
 */
function connect(profile: string | undefined = 'rich') {
  const later: (() => void)[] = [];
  const { near, far } = linkedPair((run) => later.push(run));
  const pump = () => {
    for (let run = later.shift(); run !== undefined; run = later.shift()) run();
  };
  const calls: { readonly id: number; readonly text: string }[] = [];
  const print = (frame: object | string) => far.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  far.onmessage = (text) => {
    const { id, method } = JSON.parse(text) as { id: number; method: string };
    if (method === 'get_info') {
      print('boot: wifi up');
      print({ result: { device: 'greenhouse', version: '2.3.1', memory_profile: profile }, jsonrpc: '2.0', id });
    } else if (method === 'list_tools') print({ result: listing, jsonrpc: '2.0', id });
    else calls.push({ id, text });
  };
  const log: string[] = [];
  let discovered: DiscoveredTools | undefined;
  const clock = new ManualClock(1_000_000);
  const session = new SessionActor({
    dialect: new McpuDialect(),
    transport: near,
    clock,
    firstRequestId: 32_767,
    observer: {
      onStateChanged: (state) => log.push(state),
      onGreeted: ({ model, firmwareVersion }) => log.push(`${model} ${firmwareVersion}`),
      onToolsDiscovered: (tools) => (discovered = tools),
      onDiscoveryFailed: (message) => log.push(message),
      onNotification: () => log.push('notification'),
      onDeviceMessage: () => log.push('message'),
      onLateOutcome: () => log.push('late'),
      onLargeRequests: () => log.push('large requests'),
      onAnomaly: (anomaly) => log.push(anomaly),
    },
  });
  far.start();
  session.start();
  pump();
  const settled: SettledCall[] = [];
  const call = (tool: string, args: Record<string, unknown> = {}, isBackground = false) => {
    const callId = tool as CallId;
    const deadlines = { queueDeadlineAt: clock.now() + 5000, callTimeoutMs: 5000 };
    session.enqueue({ callId, tool, arguments: args, ...deadlines, isBackground }, (end) => settled.push(end));
    pump();
  };
  const say = (frame: object | string) => {
    print(frame);
    pump();
  };
  return { session, clock, log, settled, calls, call, say, discovered: () => discovered };
}

const unread = { jsonrpc: '2.0', id: 0, error: { code: -32_700, message: 'Parse error' } };

describe('a session with a microcontroller', () => {
  it('greets, lists tools and pins, and calls the tool by its name', () => {
    const { log, discovered, call, calls, say, settled } = connect();
    expect(log).toEqual(['greeting', 'log_line', 'greenhouse 2.3.1', 'discovering', 'ready']);
    expect(discovered()?.pins).toMatchObject([{ pin: 16, name: 'valve' }]);
    call('gpio_write', { pin: 16, value: true });
    expect(calls).toEqual([
      { id: 2, text: '{"jsonrpc":"2.0","id":2,"method":"gpio_write","params":{"pin":16,"value":true}}' },
    ]);
    say({ result: { pin: 16, name: 'valve', value: true }, jsonrpc: '2.0', id: 2 });
    expect(settled).toMatchObject([
      { outcome: { kind: 'SUCCEEDED', result: { content: [{ text: '{"pin":16,"name":"valve","value":true}' }] } } },
    ]);
  });

  it('assigns an error without id to the request in flight, and ignores the errors of its remaining parts', () => {
    const { call, calls, say, settled, clock } = connect();
    call('one');
    call('two');
    say(unread);
    expect(settled).toEqual([]);
    say(unread);
    clock.advance(200);
    expect(settled).toMatchObject([
      { callId: 'one', outcome: { kind: 'FAILED', error: { code: 'DEVICE_ERROR', rpcCode: -32_700 } } },
    ]);
    call('three');
    expect(calls.map(({ text }) => (JSON.parse(text) as { method: string }).method)).toEqual(['one', 'two']);
  });

  it('rejects a request that the board cannot read, before anything is sent', async () => {
    const large = { text: 'x'.repeat(300) };
    const small = connect('low');
    small.call('say', large);
    await Promise.resolve();
    expect(small.settled).toMatchObject([
      { outcome: { kind: 'NOT_SENT', certainty: 'NEVER', error: { code: 'REQUEST_TOO_LARGE' } } },
    ]);
    expect(small.calls).toEqual([]);
    const rich = connect();
    rich.call('say', large);
    expect(rich.calls).toHaveLength(1);
  });

  it('never uses id 0 and wraps around after the largest id that every board returns', () => {
    const { calls, call, say } = connect();
    call('a');
    expect(calls[0]?.id).toBe(2);
    say({ result: null, jsonrpc: '2.0', id: 2 });
    call('b');
    expect(calls[1]?.id).toBe(3);
  });

  it('treats a missing result as null, and a rejected request for samples as a failure', () => {
    const { call, calls, say, settled } = connect();
    call('beep');
    say({ jsonrpc: '2.0', id: calls[0]?.id });
    call('get_pin_buffer', { pin: 16 });
    say({ result: { pin: 'valve', buffer_available: false, reason: 'no ring' }, jsonrpc: '2.0', id: calls[1]?.id });
    expect(settled).toMatchObject([
      { outcome: { kind: 'SUCCEEDED', result: { content: [{ text: 'null' }] } } },
      { outcome: { kind: 'FAILED', error: { code: 'DEVICE_ERROR' } } },
    ]);
  });

  it('finishes a background call before the next call, because a board reads one request at a time', () => {
    const { call, calls, say, settled } = connect();
    call('leaf_wetness', {}, true);
    call('gpio_write', { pin: 16, value: true });
    expect(calls).toHaveLength(1);
    say({ result: 1, jsonrpc: '2.0', id: calls[0]?.id });
    expect(calls).toHaveLength(2);
    expect(settled).toMatchObject([{ callId: 'leaf_wetness', outcome: { kind: 'SUCCEEDED' } }]);
  });

  it('lists again when a tool is gone', () => {
    const { call, calls, say, settled, discovered } = connect();
    const before = discovered();
    call('gone');
    say({ jsonrpc: '2.0', id: calls[0]?.id, error: { code: -32_601, message: 'Method not found' } });
    expect(settled).toMatchObject([{ outcome: { kind: 'FAILED', error: { code: 'TOOL_GONE' } } }]);
    expect(discovered()).not.toBe(before);
  });
});
