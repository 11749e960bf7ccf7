import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

const paths = Array.from({ length: 120 }, (_none, index) => `samples:${index}`);
const requested: number[] = [];

let hub: SchemaHub;
beforeAll(async () => {
  hub = await startSchemaHub({
    'Device.measurementPaths': () => paths,
    'Device.measurements': ({ paths: wanted }) => {
      const asked = wanted as readonly string[];
      requested.push(asked.length);
      return asked.map((path) => ({ path }));
    },
  });
});
afterAll(() => hub.close());

describe('the measurements of a device', () => {
  it('are those of all its paths, in requests that the hub accepts', async () => {
    const { stdout } = await runCommand(hub, ['measurements', 'show', 'a', '-o', 'json', '--columns', 'path']);
    expect(JSON.parse(stdout)).toEqual(paths.map((path) => ({ path })));
    expect(requested).toEqual([50, 50, 20]);
  });
});
