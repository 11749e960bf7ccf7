/**
 * The hub starts with the environment of each pod in deploy/kubernetes, and serves what the
 * manifests promise.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { servedPaths } from '../src/api/served-paths.js';
import { kustomize, type Resource } from '../src/deployment/kustomize.js';
import { environmentOf, podsOf, type HubPod } from '../src/deployment/pods.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metricsText } from '../src/hub/metrics.js';
import { isRedisInstalled, startRedis, type RedisServer } from '../src/hub/redis-server.js';
import { openTestDatabase, type TestDatabase } from '../src/hub/test-database.js';
import { online } from '../src/jobs/job-api.js';

const folder = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));
/** What this machine decides: addresses, free ports and the folder. */
const ofTheStory = ['FLOTILLA_HOST', 'FLOTILLA_DATA_DIR', 'FLOTILLA_UDP_PORT'];
/** Shows the paths. */
const debug = { FLOTILLA_LOG_LEVEL: 'debug' };

type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

function startPod(pod: HubPod, resources: readonly Resource[], secrets: Secrets): Promise<HubProcess> {
  const env = Object.entries(environmentOf(pod, resources, secrets)).filter(([name]) => !ofTheStory.includes(name));
  return startHub({ embedded: true, env: { ...Object.fromEntries(env), ...debug } });
}

async function end(hub: HubProcess): Promise<void> {
  // As Kubernetes does after the hook.
  expect(await hub.stop('SIGTERM')).toBe(0);
  removeDataDir(hub.dataDir);
}

async function expectHealthy(hub: HubProcess, { container }: HubPod): Promise<void> {
  for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe])
    expect((await fetch(`${hub.httpUrl}${httpGet.path}`)).status, httpGet.path).toBe(200);
  expect(hub.log()).not.toContain('is not a setting of the hub');
}

const admin = {
  FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
  FLOTILLA_ADMIN_PASSWORD: randomBytes(12).toString('hex'),
};

describe('the pod of one process', () => {
  it('starts with the embedded PostgreSQL, passes its probes, and stops on SIGTERM', async () => {
    const resources = kustomize(path.join(folder, 'overlays/one-process'));
    const [pod] = podsOf(resources);
    const hub = await startPod(pod as HubPod, resources, { 'flotilla-admin': admin });
    await expectHealthy(hub, pod as HubPod);
    await end(hub);
  });
});

describe.skipIf(!isRedisInstalled())('the pods of roles apart', () => {
  const resources = kustomize(path.join(folder, 'overlays/roles-apart'));
  const pods = new Map(podsOf(resources).map((pod) => [pod.deployment, pod]));
  const hubs = new Map<string, HubProcess>();
  let database: TestDatabase;
  let redis: RedisServer;
  let fleet: SimulatedFleet | undefined;
  const hubOf = (name: string) => hubs.get(name) as HubProcess;

  beforeAll(async () => {
    database = await openTestDatabase({ migrated: true });
    redis = await startRedis();
    const shared = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
      FLOTILLA_AUDIT_KEY: randomBytes(32).toString('hex'),
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    };
    const secrets = { 'flotilla-admin': admin, 'flotilla-secrets': shared };
    for (const [name, pod] of pods) {
      // Only the role api has this secret. The story adds it, because it needs a key for each hub.
      const needed = name === 'flotilla-api' ? secrets : { ...secrets, 'flotilla-secrets': { ...shared, ...admin } };
      hubs.set(name, await startPod(pod, resources, needed));
    }
  });

  afterAll(async () => {
    await fleet?.stop();
    for (const hub of hubs.values()) await end(hub);
    await redis.stop();
    await database.close();
  });

  it('pass their probes', async () => {
    for (const [name, pod] of pods) await expectHealthy(hubOf(name), pod);
  });

  it('serve a device of the gateway to a caller of the API', async () => {
    fleet = startFleet(hubOf('flotilla-gateway'), { devices: 1, transport: 'mixed', profile: 'lamp', seed: 5 });
    const api = hubOf('flotilla-api');
    await online(api, 1);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(api, '{ devices { nodes { id } } }');
    const query = `mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }`;
    const input = { deviceId: devices.nodes[0]?.id, tool: 'self.lamp.turn_on' };
    expect(await ask(api, query, { input })).toEqual({ callTool: { call: { outcome: 'SUCCEEDED' } } });
  });

  it('have an ingress that sends to gateways what they serve, and all else to the API', () => {
    const ingress = resources.find(({ kind }) => kind === 'Ingress')?.['spec'] as unknown as {
      readonly rules: readonly {
        readonly http: {
          readonly paths: readonly { path: string; backend: { service: { name: string } } }[];
        };
      }[];
    };
    const { paths = [] } = ingress.rules[0]?.http ?? {};
    const targetOf = (served: string) =>
      paths
        .filter(({ path: prefix }) => prefix === '/' || served === prefix || served.startsWith(`${prefix}/`))
        .sort((one, other) => other.path.length - one.path.length)[0]?.backend.service.name;
    const pathsOf = (name: string) => {
      const { http, webSocket } = servedPaths(hubOf(name));
      return [...http.map((route) => route.split(' ')[1] ?? ''), ...webSocket];
    };
    const everywhere = pathsOf('flotilla-worker');
    // The health of one process means nothing behind an ingress.
    const own = (name: string) =>
      pathsOf(name).filter((served) => !everywhere.includes(served) && !served.startsWith('/health/'));
    for (const name of ['flotilla-gateway', 'flotilla-api']) {
      expect(own(name).length).toBeGreaterThan(3);
      for (const served of own(name)) expect(`${served} ${targetOf(served)}`).toBe(`${served} ${name}`);
    }
  });

  it('expose the metrics of the autoscaler and of the alerts', async () => {
    const text = ['pod-monitor.yaml', 'alerts.yaml', 'prometheus-adapter-values.yaml']
      .map((file) => readFileSync(path.join(folder, 'monitoring', file), 'utf8'))
      .join('\n');
    const names = new Set(text.match(/\bflotilla_[a-z0-9_]+\b/g));
    expect(names.size).toBeGreaterThan(5);
    const exposed = (
      await Promise.all([...hubs.values()].map((hub) => metricsText({ ...hub, adminKey: admin.FLOTILLA_ADMIN_KEY })))
    ).join('\n');
    for (const name of names) expect(exposed).toMatch(new RegExp(`^# TYPE ${name} `, 'm'));
  });
});
