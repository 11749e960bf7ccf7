import { expect, it } from 'vitest';
import type { AgentCaller } from '../session/agent-caller.js';
import { readMeasurements } from './measurement-tools.js';

const callerWith = (count: number): AgentCaller => {
  const paths = Array.from({ length: count }, (_, index) => `samples:${index}`);
  const view = {
    devices: { find: async () => ({ id: 'board' }) },
    measurements: {
      pathsOver: async () => paths,
      latestOf: async () => new Map([['board', paths.map((path) => ({ path, value: 1, at: 0 }))]]),
    },
  };
  return { viewer: { scopes: ['ADMIN'] }, view } as unknown as AgentCaller;
};

it.each([{}, { device: 'board' }])('the answer to %j says that there are more paths than it shows', async (args) => {
  const some = (await readMeasurements(undefined, callerWith(200), args)).structuredContent;
  expect(some).toMatchObject({ paths: { length: 200 } });
  expect(some).not.toHaveProperty('hint');
  const many = (await readMeasurements(undefined, callerWith(201), args)).structuredContent;
  expect(many).toMatchObject({ paths: { length: 200 }, hint: expect.stringContaining('Only the first 200 paths') });
});
