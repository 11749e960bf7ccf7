/** A simulated board beside what is known of real ones. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../behaviour/seeded-random.js';
import { boardProfiles } from './board-profile.js';
import type { BoardProfileName } from './board-profile.js';
import { SimulatedBoard } from './simulated-board.js';
import type { BoardEffect } from './simulated-board.js';

function boot(name: BoardProfileName = 'esp32') {
  const board = new SimulatedBoard({ profile: boardProfiles[name], random: seededRandom(1) });
  board.connected(0);
  return board;
}

const request = (id: unknown, method: string, params?: unknown) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const textOf = (effects: readonly BoardEffect[]) =>
  effects.map((effect) => (effect.kind === 'send' ? effect.text : '')).join('');
const framesOf = (effects: readonly BoardEffect[]) =>
  textOf(effects)
    .split('\r\n')
    .filter((line) => line !== '')
    .map(
      (line) =>
        JSON.parse(line) as {
          readonly id: number;
          readonly result?: Readonly<Record<string, unknown>>;
          readonly error?: { code: number };
        },
    );
const ask = (board: SimulatedBoard, method: string, params?: unknown, now = 0) =>
  framesOf(board.receive(request(7, method, params), now))[0];

describe('a simulated board', () => {
  it('answers each line, and ends its own with CR LF', () => {
    const effects = boot().receive(
      request(1, 'gpio_write', { pin: 2, value: true }) + request(2, 'gpio_read', { pin: 2 }),
      0,
    );
    expect(textOf(effects)).toBe(
      '{"result":{"pin":2,"name":"lamp","value":true},"jsonrpc":"2.0","id":1}\r\n{"result":{"pin":2,"name":"lamp"' +
        ',"value":true},"jsonrpc":"2.0","id":2}\r\n',
    );
  });

  it('refuses both halves of a request that came in two pieces', () => {
    const board = boot();
    const text = request(3, 'gpio_write', { pin: 2, value: true });
    const frames = [...framesOf(board.receive(text.slice(0, 30), 0)), ...framesOf(board.receive(text.slice(30), 0))];
    expect(frames).toMatchObject([
      { id: 0, error: { code: -32_700 } },
      { id: 0, error: { code: -32_700 } },
    ]);
    expect(board.outputs).toMatchObject({ lamp: false });
  });

  it.each([
    ['avr', 255],
    ['generic', 255],
    ['esp32', 511],
  ] as const)('%s cuts requests longer than %i bytes', (name, max) => {
    const board = boot(name);
    const exact = request(1, 'get_info', { x: '' }).length - 1;
    const padded = (length: number) => request(1, 'get_info', { x: 'x'.repeat(length - exact) });
    expect(framesOf(board.receive(padded(max), 0))).toMatchObject([{ id: 1 }]);
    expect(framesOf(board.receive(padded(max + 1), 0))).toMatchObject([{ id: 0 }, { id: 0 }]);
  });

  it('does not answer ids that its int cannot hold', () => {
    for (const id of ['1', null, 1.5, 32_768]) expect(boot('avr').receive(request(id, 'get_info'), 0)).toEqual([]);
    expect(framesOf(boot('avr').receive(request(32_767, 'get_info'), 0))).toHaveLength(1);
    expect(framesOf(boot('esp32').receive(request(32_768, 'get_info'), 0))).toHaveLength(1);
  });

  it.each([
    [
      'the last of two equal members',
      '{"jsonrpc":"2.0","id":1,"method":"get_info","method":"nothing"}\n',
      { id: 1, error: { code: -32_601 } },
    ],
    ['only the first of two objects', `${request(1, 'get_info').trim()}${request(2, 'get_info')}`, { id: 1 }],
    ['no list', '[]\n', { id: 0, error: { code: -32_600 } }],
    ['no other protocol', '{"id":5,"method":"get_info"}\n', { id: 0, error: { code: -32_600 } }],
    [
      'not eleven levels',
      request(1, 'get_info', JSON.parse(`{"a":${'['.repeat(9)}${']'.repeat(9)}}`)),
      { id: 0, error: { code: -32_700 } },
    ],
    ['pin 258 as pin 2', request(1, 'gpio_write', { pin: 258, value: true }), { id: 1, result: { pin: 2 } }],
    ['no pin of another type', request(1, 'gpio_write', { pin: 36, value: true }), { id: 1, error: { code: -32_602 } }],
    ['any duty', request(1, 'pwm_write', { pin: 18, duty: 9_999 }), { id: 1, result: { duty: 9_999 } }],
  ])('takes %s', (_what, line, frame) => {
    expect(framesOf(boot().receive(line, 0))).toMatchObject([frame]);
  });

  it('resets its outputs for each connection', () => {
    const board = boot();
    ask(board, 'gpio_write', { pin: 2, value: true });
    board.disconnected();
    expect(board.outputs['lamp']).toBe(true);
    board.connected(0);
    expect(board.outputs['lamp']).toBe(false);
  });

  it('stands still while a tool runs, and reads what came meanwhile afterwards', () => {
    const board = boot();
    expect(board.receive(request(1, 'water_bed', { seconds: 9 }), 0)).toEqual([{ kind: 'wakeAt', at: 9_000 }]);
    expect(board.receive(request(2, 'get_info'), 100)).toEqual([]);
    expect(framesOf(board.tick(9_000)).map(({ id }) => id)).toEqual([1, 2]);
  });

  it('prints into its line', () => {
    expect(textOf(boot().receive(request(1, 'measure_soil'), 0))).toMatch(/^adc ready \{"result"/);
    expect(textOf(boot('generic').receive(request(1, 'run_pump', { seconds: 0 }), 0))).toMatch(/^null\r\n\{"result"/);
    expect(ask(boot('avr'), 'buzz', { ms: 0 })).toEqual({ jsonrpc: '2.0', id: 7 });
  });

  it('keeps samples in a ring that reading does not empty, and gives the oldest first', () => {
    const board = boot();
    const all = ask(board, 'get_pin_buffer', { pin: 'soil' }, 9_500)?.result?.['values'] as number[];
    expect(all).toHaveLength(10);
    expect(ask(board, 'get_pin_buffer', { pin: 36, limit: 3 }, 9_600)?.result).toEqual({
      pin: 'soil',
      count: 10,
      values: all.slice(0, 3),
    });
    expect(ask(board, 'get_pin_buffer', { pin: 36 }, 200_000)?.result?.['count']).toBe(60);
    expect(ask(board, 'get_pin_summary', { pin: 36 }, 200_000)?.result).toMatchObject({ pin: 36, samples: 201 });
    expect(ask(boot('avr'), 'get_pin_buffer', { pin: 14 })?.result).toMatchObject({ buffer_available: false });
  });

  it('lists its tools, on AVR without what costs memory', () => {
    const rich = ask(boot(), 'list_tools')?.result;
    expect(rich?.['tools']).toContainEqual({
      name: 'leaf_wetness',
      description: 'Recent wetness samples',
      inputSchema: { type: 'object', required: [], properties: {} },
      polling: { enabled: true, interval_ms: 5_000 },
    });
    expect(rich?.['pins']).toContainEqual(
      expect.objectContaining({ name: 'soil', sampling: { interval_ms: 1_000, buffer_size: 60 } }),
    );
    const terse = ask(boot('avr'), 'list_tools')?.result;
    const names = (terse?.['tools'] as readonly { name: string }[]).map(({ name }) => name);
    expect(names, 'its pin keeps statistics and no samples').toContain('get_pin_summary');
    expect(names).not.toContain('get_pin_buffer');
    expect(terse?.['tools']).toContainEqual({ name: 'gpio_write', description: 'Set an output' });
    expect(terse?.['pins']).toContainEqual({ pin: 14, name: 'pot', type: 'adc_input', description: 'Potentiometer' });
  });
});
