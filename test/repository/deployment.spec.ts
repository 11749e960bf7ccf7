/**
 * Dockerfile, docker-compose.yml, .env.example, dashboards and alert rules agree with the hub. No
 * container is started.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { defaultPorts, hubSettings } from '../src/deployment/hub-settings.js';
import { hubNodeOptions } from '../src/hub/hub-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

const settings = hubSettings;
const ports = [...defaultPorts.values()].map(String);

interface Service {
  readonly env_file?: string;
  readonly user?: string;
  readonly command?: readonly string[];
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const composeText = read('docker-compose.yml');
const compose = parse(composeText) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const dockerfile = read('Dockerfile');
/** Read by docker-compose.yml alone. */
const composeOnly = ['POSTGRES_PASSWORD', 'REDIS_PASSWORD'];
/** Settings that docker-compose.yml fixes; .env does not change them. */
const composeFixed = ['DATABASE_URL', 'FLOTILLA_DATA_DIR', 'FLOTILLA_HOST', 'REDIS_URL'];
/** Settings that docker compose requires. */
const composeRequired = ['FLOTILLA_ADMIN_KEY', 'FLOTILLA_ADMIN_PASSWORD', 'FLOTILLA_PUBLIC_URL'];
/** Replaces each variable of docker-compose.yml by its default; a required one by a word. */
const filledIn = (text: string) =>
  text.replace(/\$\{[A-Z_]+:(?:-([^}]*)|\?[^}]*)\}/g, (_whole, fallback?: string) => fallback ?? 'secret');

describe('the settings', () => {
  it('are found in the hub’s own list', () => {
    expect(settings).toContain('FLOTILLA_HOST');
    expect(settings).toContain('DATABASE_URL');
    expect(ports).toHaveLength(4);
  });

  it('are all in .env.example, and nothing else is', () => {
    expect(sorted(matches(read('.env.example'), /^#? ?([A-Z][A-Z0-9_]+)=/gm))).toEqual(
      sorted([...settings, ...composeOnly]),
    );
  });

  it('are all explained in docs/operations.md, and nothing else is', () => {
    expect(sorted(matches(read('docs/operations.md'), /^\| `([A-Z][A-Z0-9_]+)` /gm))).toEqual(settings);
  });

  it('all reach the container: from .env as they are, but for those that docker-compose.yml fixes or requires', () => {
    const { env_file: file, environment = {} } = compose.services['hub'] ?? {};
    expect(file).toBe('.env');
    expect(sorted(Object.keys(environment))).toEqual(sorted([...composeFixed, ...composeRequired]));
    expect(settings).toEqual(expect.arrayContaining(Object.keys(environment)));
    // A variable of another name would replace the setting by something else.
    for (const name of composeRequired) expect(environment[name]).toMatch(new RegExp(`^\\$\\{${name}:\\?[^}]+\\}$`));
    expect([...settings, ...composeOnly]).toEqual(expect.arrayContaining(matches(composeText, /\$\{([A-Z_]+)/g)));
  });

  it('are set by the Dockerfile under their right names', () => {
    expect([...settings, 'NODE_ENV']).toEqual(expect.arrayContaining(matches(dockerfile, /^ENV ([A-Z_]+)=/gm)));
  });
});

describe('docker-compose.yml', () => {
  it('contains no secret and requires each one from .env', () => {
    const { hub, postgres, redis } = compose.services;
    const required = (name: string) => new RegExp(`^\\$\\{${name}:\\?`);
    expect(postgres?.environment?.['POSTGRES_PASSWORD']).toMatch(required('POSTGRES_PASSWORD'));
    expect(redis?.environment?.['REDISCLI_AUTH']).toMatch(required('REDIS_PASSWORD'));
    expect(hub?.environment?.['DATABASE_URL']).toContain('${POSTGRES_PASSWORD:?');
    expect(hub?.environment?.['REDIS_URL']).toContain('${REDIS_PASSWORD:?');
  });

  it('has a Redis that asks for the password, as its own user', () => {
    const { command = [], user } = compose.services['redis'] ?? {};
    expect(command.at(-1)).toMatch(/^exec redis-server - .*<<EOF\nrequirepass \$\$REDISCLI_AUTH\nEOF$/m);
    expect(user).toBe('redis');
  });

  it('starts the hub once the services that it names are healthy', () => {
    const { depends_on: needed = {}, environment = {} } = compose.services['hub'] ?? {};
    expect(sorted(Object.keys(needed))).toEqual(['postgres', 'redis']);
    for (const [name, { condition }] of Object.entries(needed)) {
      expect(condition).toBe('service_healthy');
      expect(compose.services[name]?.healthcheck?.test).toBeDefined();
    }
    expect(new URL(filledIn(environment['DATABASE_URL'] ?? ''))).toMatchObject({
      hostname: 'postgres',
      password: 'secret',
    });
    expect(new URL(filledIn(environment['REDIS_URL'] ?? ''))).toMatchObject({ hostname: 'redis', password: 'secret' });
  });

  it('gives the hub time for a drain and for its last records before it is killed', () => {
    const drain = /^\| `FLOTILLA_DRAIN_SECONDS` +\| `(\d+)`/m.exec(read('docs/operations.md'))?.[1];
    const grace = /^(\d+)s$/.exec(compose.services['hub']?.stop_grace_period ?? '')?.[1];
    expect(Number(grace)).toBeGreaterThanOrEqual(Number(drain) + 30);
  });

  it('publishes the hub’s ports, and keeps its data in declared volumes', () => {
    expect(sorted(compose.services['hub']?.ports?.map((port) => filledIn(port).split(':')[0] ?? '') ?? [])).toEqual(
      sorted(ports),
    );
    for (const port of compose.services['hub']?.ports ?? []) expect(filledIn(port)).toMatch(/^(\d+):\1(\/udp)?$/);
    const mounted = Object.values(compose.services).flatMap((service) => service.volumes ?? []);
    expect(sorted(mounted.map((volume) => volume.split(':')[0] ?? ''))).toEqual(sorted(Object.keys(compose.volumes)));
    expect(mounted).toContain('hub-data:/data');
  });
});

describe('npm start', () => {
  it('gives the hub the options of Node that it is tested and measured with', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    expect(scripts['start']).toBe(`exec node ${hubNodeOptions.join(' ')} scripts/start.mjs`);
  });
});

describe('the Dockerfile', () => {
  it('runs scripts that exist, and the program of the package', () => {
    for (const script of matches(dockerfile, /^RUN node (\S+)/gm))
      expect(existsSync(path.join(root, script)), script).toBe(true);
    // test/repository/packaging.spec.ts checks the options of Node that it has.
    expect(parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '')).toEqual(['flotilla-hub']);
  });

  it('uses a line of Node with long-term support that is not at its end', () => {
    const lines = matches(dockerfile, /^FROM node:(\d+)-bookworm-slim/gm).map(Number);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).toBeGreaterThanOrEqual(24);
      expect(line % 2).toBe(0);
    }
  });

  it('installs the npm package of the hub, and copies nothing else', () => {
    expect(matches(dockerfile, /^COPY --from=build (\S+) /gm)).toEqual(['/packages/flotilla-hub-*.tgz']);
    expect(dockerfile).toMatch(/^RUN npm install --global .*\/tmp\/package\/flotilla-hub-\*\.tgz/m);
  });

  it('exposes the default ports, runs without privileges, and has a health check', () => {
    const exposed = /^EXPOSE (.+)$/m.exec(dockerfile)?.[1] ?? '';
    expect(sorted(matches(exposed, /(\d+)/g))).toEqual(sorted(ports));
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(parse(/^HEALTHCHECK .*CMD (.+)$/m.exec(dockerfile)?.[1] ?? '')).toEqual(['flotilla-hub', 'health-check']);
  });

  it('is built from a context without secrets and without what was built outside', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toEqual(
      expect.arrayContaining(['.env', '.flotilla', '.git', '**/node_modules', '**/dist', '**/generated']),
    );
  });
});

describe('a dashboard and an alert rule', () => {
  it.each([
    'deploy/grafana/fleet.json',
    'deploy/grafana/jobs.json',
    'deploy/grafana/process.json',
    'deploy/prometheus/flotilla-rules.yml',
    'deploy/kubernetes/monitoring/alerts.yaml',
  ])('names only outcomes that the hub counts calls by: %s', (file) => {
    const counted = /^const outcomes = \[(.+)\];$/m.exec(read('apps/hub/src/measures/metrics.ts'))?.[1] ?? '';
    const queried = matches(read(file), /flotilla_calls_total\{[^}]*outcome=~?\\?"([A-Z_|]+)/g);
    expect(matches(counted, /'([A-Z_]+)'/g)).toEqual(expect.arrayContaining(queried.join('|').match(/\w+/g) ?? []));
  });
});
