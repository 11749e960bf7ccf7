/** The packages of the repository: all private, with a bill of materials and an audit. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readJson = <Content>(file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Content;

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const folders = ['libs', 'apps'].flatMap((kind) => readdirSync(path.join(root, kind)).map((name) => `${kind}/${name}`));
const manifests = ['.', ...folders, 'bench', 'test'].map((folder) => readJson<Manifest>(`${folder}/package.json`));

interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}
const locked = Object.entries(
  readJson<{ readonly packages: Readonly<Record<string, LockEntry>> }>('package-lock.json').packages,
).flatMap(([place, entry]) =>
  place.includes('node_modules/') ? [{ ...entry, name: place.split('node_modules/').at(-1) ?? '' }] : [],
);

const cache = mkdtempSync(path.join(tmpdir(), 'flotilla-npm-'));
afterAll(() => rmSync(cache, { recursive: true, force: true }));

async function run(script: string, ...args: readonly string[]) {
  const env = { ...process.env, npm_config_cache: cache, npm_config_fetch_retries: '0' };
  const child = spawn(process.execPath, [path.join(root, 'scripts', script), ...args], { cwd: root, env });
  let [out, error] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, error };
}

describe('the packages of this repository', () => {
  it('are all private', () => {
    expect(manifests.length).toBeGreaterThan(15);
    expect(manifests.filter((manifest) => manifest.private !== true).map(({ name }) => name)).toEqual([]);
  });
});

interface Bill {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly version: number;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

describe('the bill of materials', () => {
  let bill: Bill;
  beforeAll(async () => {
    const { code, out, error } = await run('sbom.mjs');
    expect(code, error).toBe(0);
    bill = JSON.parse(out) as Bill;
  });

  it('is CycloneDX: each component once, with its identity and its dependencies', () => {
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/), version: 1 });
    expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    expect(Date.parse(bill.metadata.timestamp)).toBeGreaterThan(0);
    expect(bill.metadata.component).toMatchObject({
      name: 'flotilla',
      purl: expect.stringMatching(/^pkg:npm\/flotilla@/),
    });
    for (const component of bill.components) {
      expect(component).toMatchObject({ type: 'library', name: expect.any(String), version: expect.any(String) });
      expect(component.purl).toMatch(/^pkg:npm\//);
    }
    const refs = [bill.metadata.component, ...bill.components].map((component) => component['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    expect(
      bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.includes(ref)),
    ).toEqual([]);
  });

  it('has all production dependencies and no development-only ones', () => {
    const named = new Set(
      bill.components.map(({ purl }) => decodeURIComponent(/^pkg:npm\/(.+)@[^@]+$/.exec(purl)?.[1] ?? '')),
    );
    const needed = manifests.flatMap(({ dependencies = {} }) => Object.keys(dependencies));
    expect(needed).toEqual(expect.arrayContaining(['fastify', 'aedes', 'pg', 'ioredis']));
    expect(needed.filter((name) => !named.has(name))).toEqual([]);
    const always = new Set(locked.filter(({ dev }) => dev !== true).map(({ name }) => name));
    const development = locked.filter(({ dev, name }) => dev === true && !always.has(name)).map(({ name }) => name);
    expect(development).toEqual(expect.arrayContaining(['vitest', 'eslint', 'prettier']));
    expect(development.filter((name) => named.has(name))).toEqual([]);
  });
});

describe('the audit of dependencies', () => {
  /** Runs the audit against a registry with these answers. */
  async function audited(answer: RequestListener) {
    const registry = createServer(answer).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    const { port } = registry.address() as AddressInfo;
    try {
      return await run('audit-dependencies.mjs', `--registry=http://127.0.0.1:${port}`);
    } finally {
      registry.closeAllConnections();
      registry.close();
    }
  }

  const advisory = {
    id: 1,
    url: 'https://advisories.example/1',
    title: 'Reads too much',
    severity: 'high',
    vulnerable_versions: '>=0.0.0',
  };
  const registryWith =
    (advisories: object): RequestListener =>
    ({ method, url = '' }, response) => {
      const versions = locked
        .filter(({ name }) => name === 'zod')
        .map(({ version = '' }) => [version, { name: 'zod', version }] as const);
      const packument = {
        name: 'zod',
        'dist-tags': { latest: versions[0]?.[0] },
        versions: Object.fromEntries(versions),
      };
      const body = method === 'POST' ? advisories : url === '/zod' ? packument : undefined;
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? {}));
    };

  it('ends with 0 when the registry knows no vulnerability', async () => {
    expect(await audited(registryWith({}))).toMatchObject({
      code: 0,
      out: expect.stringContaining('0 vulnerable packages of'),
    });
  });

  it('ends with 1 and the name of a production package with a high vulnerability', async () => {
    const { code, out } = await audited(registryWith({ zod: [advisory] }));
    expect(code).toBe(1);
    expect(out).toMatch(/^high\tzod .*Reads too much https:\/\/advisories\.example\/1/m);
  });

  it('ends with 3, not with 0, when the registry does not answer', async () => {
    const { code, out, error } = await audited((_request, response) => response.writeHead(405).end());
    expect(code).toBe(3);
    expect(out).toBe('');
    expect(error).toContain('nothing was checked: 405');
  });
});
