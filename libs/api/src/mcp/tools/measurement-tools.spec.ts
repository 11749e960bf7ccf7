import { expect, it } from 'vitest';
import { CostBudget } from '../../limits/cost-budget.js';
import { fleetChartPoints } from '../../limits/operation-cost.js';
import type { AgentCaller } from '../session/agent-caller.js';
import { readMeasurements } from './measurement-tools.js';

/** Enough for answers that read no chart of the fleet. */
const cheap = { budget: new CostBudget(1) };

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

it.each([
  [{}, 'Add conditions, or call again with a path that you know.'],
  [{ device: 'board' }, 'Call again with a path that you know.'],
])('the answer to %j says that there are more paths than it shows', async (args, advice) => {
  const some = (await readMeasurements(cheap, callerWith(200), args)).structuredContent;
  expect(some).toMatchObject({ paths: { length: 200 } });
  expect(some).not.toHaveProperty('hint');
  const many = (await readMeasurements(cheap, callerWith(201), args)).structuredContent;
  expect(many).toMatchObject({ paths: { length: 200 }, hint: `Only the first 200 paths are shown. ${advice}` });
});

it('a chart of the fleet costs what it costs over GraphQL, and is refused without the points for it', async () => {
  let read = 0;
  const fleetSeries = async () => {
    read += 1;
    return [];
  };
  const measurements = { chartFacts: async () => ({ rawSince: 0, series: 1 }), fleetSeries, series: fleetSeries };
  const viewer = { kind: 'KEY', id: 'key', name: 'key', scopes: ['ADMIN'] };
  const view = { devices: { find: async () => ({ id: 'board' }) }, measurements };
  const caller = { viewer, view } as unknown as AgentCaller;
  const deps = { budget: new CostBudget(2 * fleetChartPoints - 1) };
  expect((await readMeasurements(deps, caller, { path: 'p' })).isError).toBeUndefined();
  expect(await readMeasurements(deps, caller, { path: 'p' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^RATE_LIMITED: .*Try again in \d+ ms\.$/) }],
  });
  expect(read).toBe(1);
  expect((await readMeasurements(deps, caller, { path: 'p', device: 'board' })).isError).toBeUndefined();
});
