/** Commands on standard input: good ones act, bad ones are explained. */
import { afterEach, describe, expect, it } from 'vitest';
import { Boards } from '../boards/boards.js';
import { runCommand as runOn } from './commands.js';
import { Fleet } from '../fleet.js';
import { readOptions } from './options.js';

const noReports = {
  onconnected: () => undefined,
  ondisconnected: () => undefined,
  onfailed: () => undefined,
  onnotice: () => undefined,
};
const options = readOptions(
  ['node', 'simulate', '--devices', '5', '--transport', 'mixed', '--direct', '--secret', 'x'],
  {},
);
const fleet = new Fleet(options, noReports);
const runCommand = (line: string) => runOn(line, { fleet, boards: new Boards(options) });
afterEach(() => fleet.stop());

describe('commands', () => {
  it('list the devices of the seed', () => {
    const { answer } = runCommand('{"cmd":"devices","id":1}');
    expect(answer).toMatchObject({ event: 'devices', id: 1 });
    expect(answer['devices']).toMatchObject([
      { device: '02:00:01:00:00:00', profile: 'screen-camera', transport: 'mqtt' },
      { profile: 'lamp' },
      { profile: 'robot' },
      { profile: 'old', transport: 'websocket' },
      { device: '02:00:01:00:00:04', profile: 'interim' },
    ]);
  });

  it('count, and give behaviours to one or all', () => {
    expect(runCommand('{"cmd":"counts"}').answer).toEqual({ event: 'counts', tools: {}, devices: {} });
    expect(runCommand('{"cmd":"behaviour","device":"*","behaviour":{"kind":"silent"}}').answer).toEqual({
      event: 'done',
      cmd: 'behaviour',
      devices: 5,
    });
    expect(runCommand('{"cmd":"stop"}')).toEqual({ answer: { event: 'done', cmd: 'stop' }, isStop: true });
  });

  it('turn knobs and show where they are', () => {
    const turn = '{"cmd":"turnKnob","device":"02:00:01:00:00:00","knob":"volume","value":35}';
    expect(runCommand(turn).answer).toEqual({ event: 'done', cmd: 'turnKnob', devices: 1 });
    expect(runCommand('{"cmd":"levels","device":"*"}').answer['devices']).toMatchObject({
      '02:00:01:00:00:00': { volume: 35, brightness: 75, theme: 'light', turns: 1 },
      '02:00:01:00:00:01': { volume: 70, turns: 0 },
    });
  });

  it.each([
    ['{', 'expected object'],
    ['{"cmd":"fly"}', 'cmd'],
    ['{"cmd":"behaviour","device":"*","behaviour":{"kind":"slow"}}', 'behaviour.ms'],
    ['{"cmd":"turnKnob","device":"*","knob":"treble"}', 'knob'],
    ['{"cmd":"calls","device":"02:00"}', 'No device 02:00'],
  ])('explain what is wrong with %s', (line, message) => {
    const { answer } = runCommand(line);
    expect(answer.event).toBe('error');
    expect(answer['message']).toContain(message);
  });
});
