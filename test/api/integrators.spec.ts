/**
 * The examples of docs/integrators.md print what the page says (`…` stands for any text), and the
 * OpenAPI document has every path.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { servedPaths } from '../src/api/served-paths.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(new URL('../../docs/integrators.md', import.meta.url), 'utf8');

/** A program that has not ended by then hangs, ms. */
const EXAMPLE_MS_MAX = 60_000;

interface Example {
  readonly heading: string;
  readonly code: string;
  readonly output: string;
}

/** Each program of the page with what stands below it. */
const examples: readonly Example[] = [...page.matchAll(/^```js\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```/gm)].map(
  (match) => ({
    heading:
      page
        .slice(0, match.index)
        .match(/^## .*$/gm)
        ?.at(-1) ?? '',
    code: match[1] ?? '',
    output: match[2] ?? '',
  }),
);

let hub: HubProcess;
let fleet: SimulatedFleet;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  // It says which paths it serves.
  hub = await startHub({ env: { FLOTILLA_LOG_LEVEL: 'debug' } });
  fleet = startFleet(hub, { devices: 3, profile: 'mixed' });
  await online(hub, 3);
  const query = '{ devices(first: 1) { nodes { id } } events(first: 1) { edges { cursor } } }';
  const { devices, events } = await ask<{
    devices: { nodes: { id: string }[] };
    events: { edges: { cursor: string }[] };
  }>(hub, query);
  environment = {
    ...process.env,
    FLOTILLA_URL: hub.httpUrl,
    FLOTILLA_KEY: hub.adminKey,
    EXAMPLE_DEVICE: devices.nodes[0]?.id,
    EXAMPLE_CURSOR: events.edges[0]?.cursor,
  };
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

/** Rejects with what the program had printed. */
async function run(code: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const options = { cwd: root, timeout: EXAMPLE_MS_MAX, env: environment };
  try {
    return await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], options);
  } catch (error) {
    const { stdout, stderr, killed } = error as { stdout: string; stderr: string; killed: boolean };
    throw new Error(`The example ${killed ? 'did not end' : 'failed'}. It printed: ${stdout}${stderr}`, {
      cause: error,
    });
  }
}

describe("the integrators' page", () => {
  it('says below every program what it prints', () => {
    expect(examples).toHaveLength([...page.matchAll(/^```js$/gm)].length);
  });

  it.each(examples.map((example, index) => [`${index + 1}, ${example.heading}`, example] as const))(
    'runs example %s',
    async (_name, { code, output }) => {
      const { stdout, stderr } = await run(code);
      expect(stderr).toBe('');
      const printed = stdout.trimEnd().split('\n');
      const promised = output.trimEnd().split('\n');
      expect(printed).toHaveLength(promised.length);
      for (const [index, line] of promised.entries()) {
        const pattern = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
        expect(printed[index]).toMatch(new RegExp(`^${pattern.join('.*')}$`));
      }
    },
  );
});

describe('the OpenAPI document', () => {
  it('describes each path below /api that the hub serves, and no other', async () => {
    const answer = await fetch(`${hub.httpUrl}/openapi.json`, { headers: { authorization: `Bearer ${hub.adminKey}` } });
    const { paths } = (await answer.json()) as { readonly paths: Readonly<Record<string, object>> };
    const described = Object.entries(paths).flatMap(([url, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${url}`),
    );
    const served = servedPaths(hub).http.filter((route) => /^(?!HEAD)\w+ \/api\//.test(route));
    expect(described.sort()).toEqual(served.map((route) => route.replace(/:(\w+)/g, '{$1}')).sort());
    expect(described).toContain('POST /api/firmware');
  });
});
