import type { CallAnswer, CallRequest, RolloutRequest } from '@flotilla/fleet';
import type { Principal, Scope } from '@flotilla/registry';
import { beforeEach, describe, expect, it } from 'vitest';
import { entitiesOf } from '../mapping/entities.js';
import { inputOf, readAt, toolOf } from '../mapping/home-device.suite.js';
import { CommandRunner, type CommandRunnerDeps } from './command-runner.js';
import { KnownValues } from './known-values.js';

const tools = [toolOf('self.lamp.set', { power: { type: 'boolean' } })];
const input = inputOf({ tools, latestVersion: '3.0.0' }, { 'self.lamp.set': readAt('lamp.power', 'power') });
const entity = (platform: string) => {
  const found = entitiesOf(input).find((each) => each.platform === platform);
  if (found === undefined) throw new TypeError(platform);
  return found;
};
const holder = (...scopes: readonly Scope[]): Principal => ({ kind: 'KEY', id: 'k', name: 'home', scopes });
const all = holder('TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED', 'FIRMWARE_WRITE', 'JOBS_WRITE');

let calls: CallRequest[];
let jobs: unknown[];
let answer: CallAnswer;
let warnings: unknown[];
let runner: CommandRunner;

beforeEach(() => {
  [calls, jobs, warnings] = [[], [], []];
  answer = { call: { outcome: 'SUCCEEDED' } as never };
  const fleet = {
    callTool: async (request: CallRequest) => {
      calls.push(request);
      return answer;
    },
    createJob: async (request: RolloutRequest) => {
      jobs.push(request);
      return {};
    },
  } as unknown as CommandRunnerDeps['fleet'];
  const logger = { info: () => undefined, warn: (details: object) => warnings.push(details), error: () => undefined };
  runner = new CommandRunner({ fleet, logger, reader: { newestImage: async () => ({ id: 'image' }) as never } });
});

describe('a command', () => {
  it('is a call of the tool', async () => {
    const end = await runner.run(input.device, entity('switch'), 'ON', all);
    expect(end).toMatchObject({ result: 'succeeded', call: { value: true } });
    expect(calls).toEqual([{ deviceId: input.device.id, tool: 'self.lamp.set', arguments: { power: true } }]);
    expect(warnings).toEqual([]);
  });

  it('is refused without the scope, and logged', async () => {
    const end = await runner.run(input.device, entity('switch'), 'ON', holder('DEVICES_READ'));
    expect(end).toMatchObject({ result: 'refused', reason: 'The key needs the scope TOOLS_CALL.' });
    expect(warnings).toHaveLength(1);
    const install = await runner.run(input.device, entity('update'), 'install', holder('TOOLS_CALL', 'JOBS_WRITE'));
    expect(install).toMatchObject({ result: 'refused' });
    expect([calls, jobs]).toEqual([[], []]);
  });

  it('with an invalid payload reaches no device', async () => {
    expect(await runner.run(input.device, entity('switch'), 'maybe', all)).toMatchObject({ result: 'invalid' });
    expect(calls).toEqual([]);
  });

  it('fails with the reason of the call', async () => {
    answer = { call: { outcome: 'FAILED', error: { code: 'DEVICE_ERROR', message: 'No lamp.' } } as never };
    const end = await runner.run(input.device, entity('switch'), 'ON', all);
    expect(end).toEqual({ result: 'failed', reason: 'No lamp.' });
    answer = { refusal: { code: 'APPROVAL_REQUIRED', message: 'Ask.' } as never };
    expect(await runner.run(input.device, entity('switch'), 'ON', all)).toEqual({ result: 'refused', reason: 'Ask.' });
  });

  it('to install is a roll-out to this device', async () => {
    expect(await runner.run(input.device, entity('update'), 'install', all)).toEqual({ result: 'succeeded' });
    expect(jobs).toMatchObject([{ firmwareImageId: 'image', devices: { ids: [input.device.id] } }]);
  });

  it('to install is refused where the device runs nothing older: it would install an older image', async () => {
    const newer = { ...input.device, firmwareVersion: '3.1.0', latestVersion: '3.1.0' };
    expect(await runner.run(newer, entity('update'), 'install', all)).toMatchObject({ result: 'refused' });
    expect(jobs).toEqual([]);
  });
});

it('samples are known by their series, and reported only when they change', () => {
  const values = new KnownValues();
  expect(values.sampled('a', { pin: 3, name: 'light', values: [1, 2] })).toBe(true);
  expect(values.sampled('a', { pin: 3, name: 'light', values: [7, 2] })).toBe(false);
  expect(values.sampled('a', { tool: 'read_humidity', value: 45 })).toBe(true);
  expect(values.sampled('a', { tool: 'read_humidity', truncated: true })).toBe(false);
  expect(values.sampled('a', { tool: 'read_list', value: [] })).toBe(false);
  expect([...values.of('a').samples]).toEqual([
    ['light', 2],
    ['read_humidity', 45],
  ]);
});
