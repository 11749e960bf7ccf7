import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closingText } from './closing-text.js';
import { dataProblem } from './folder-owner.js';
import { applyStep, installPlan, placeProblems, settingsProblem, stepText, type Place } from './install-plan.js';

let root: string;
let place: Place;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'flotilla-install-'));
  place = {
    root,
    node: process.execPath,
    program: '/usr/local/lib/node_modules/flotilla-hub/program/apps/hub/dist/program',
    user: 'flotilla',
    settingsDir: '/etc/flotilla',
    dataDir: '/var/lib/flotilla',
    backupDir: '/var/backups/flotilla',
    unitDir: '/etc/systemd/system',
  };
});
afterEach(() => rmSync(root, { recursive: true }));

const apply = () => installPlan(place).forEach((step) => applyStep(step, place));

describe('the installation as a service', () => {
  it('makes private folders, settings and units, once', () => {
    expect(installPlan(place).map((step) => ('path' in step ? step.path : step.name))).toEqual([
      '/etc/flotilla',
      '/var/lib/flotilla',
      '/var/backups/flotilla',
      '/etc/flotilla/hub.env',
      '/etc/systemd/system/flotilla.service',
      '/etc/systemd/system/flotilla-backup.service',
      '/etc/systemd/system/flotilla-backup.timer',
    ]);
    apply();
    expect(installPlan(place)).toEqual([]);
    expect(statSync(path.join(root, place.dataDir)).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(root, '/etc/flotilla/hub.env')).mode & 0o777).toBe(0o640);
  });

  it('updates units of another version, and never the settings of an operator', () => {
    apply();
    writeFileSync(path.join(root, '/etc/flotilla/hub.env'), 'FLOTILLA_HOST=0.0.0.0\n');
    writeFileSync(path.join(root, place.unitDir, 'flotilla.service'), 'old');
    expect(installPlan(place)).toMatchObject([{ path: '/etc/systemd/system/flotilla.service' }]);
    apply();
    expect(readFileSync(path.join(root, '/etc/flotilla/hub.env'), 'utf8')).toBe('FLOTILLA_HOST=0.0.0.0\n');
  });

  it('reports settings of another data folder, which the service could not write to', () => {
    expect(settingsProblem(place)).toBeUndefined();
    apply();
    expect(settingsProblem(place)).toBeUndefined();
    expect(settingsProblem({ ...place, dataDir: '/var/lib' })).toBeUndefined();
    expect(settingsProblem({ ...place, dataDir: '/srv/flotilla' })).toMatch(
      /^\/etc\/flotilla\/hub\.env has FLOTILLA_DATA_DIR=\/var\/lib\/flotilla, .* only to \/srv\/flotilla\. .*--data-dir/,
    );
    writeFileSync(path.join(root, '/etc/flotilla/hub.env'), 'FLOTILLA_HOST=0.0.0.0\n');
    expect(settingsProblem({ ...place, dataDir: '/srv/flotilla' })).toBeUndefined();
  });

  it('takes folders that another user has, and leaves data of another hub alone', () => {
    apply();
    const uid = process.getuid?.() ?? 0;
    const dataDir = path.join(root, place.dataDir);
    expect(installPlan(place, uid)).toEqual([]);
    expect(installPlan(place, uid + 1)).toEqual([
      { kind: 'owner', path: '/var/lib/flotilla', name: 'flotilla' },
      { kind: 'owner', path: '/var/backups/flotilla', name: 'flotilla' },
    ]);
    // A hub of root keeps its PostgreSQL here if the user postgres cannot reach its data folder.
    mkdirSync(path.join(dataDir, 'postgresql-17.2'));
    expect(dataProblem(place, uid + 1)).toBeUndefined();
    writeFileSync(path.join(dataDir, 'audit.key'), '');
    expect(dataProblem(place, uid)).toBeUndefined();
    expect(dataProblem(place, uid + 1)).toContain('has audit.key in it');
    expect(installPlan(place, uid + 1)).toMatchObject([{ path: '/var/backups/flotilla' }]);
  });

  it('reports no problem of a folder that only root can read', () => {
    // Root can look into each folder, so here a link that leads to itself stands for one of root.
    mkdirSync(path.join(root, '/var/lib'), { recursive: true });
    symlinkSync('flotilla', path.join(root, place.dataDir));
    expect(dataProblem(place, process.getuid?.() ?? 0)).toBeUndefined();
  });

  it('writes units that systemd accepts', (context) => {
    apply();
    const units = ['flotilla.service', 'flotilla-backup.service', 'flotilla-backup.timer'];
    const isThere = spawnSync('systemd-analyze', ['--version']).status === 0;
    if (!isThere) context.skip('systemd-analyze is not installed');
    const files = units.map((name) => path.join(root, place.unitDir, name));
    // It also looks for the program, the user and other units, which this machine may not have.
    const found = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...files], {
      encoding: 'utf8',
    });
    expect(found.stderr.split('\n').filter((line) => /Unknown|Invalid|Failed to parse|ignoring/i.test(line))).toEqual(
      [],
    );
  });

  it('backs up under a name with the date, as the shell reads the unit', () => {
    apply();
    const unit = readFileSync(path.join(root, place.unitDir, 'flotilla-backup.service'), 'utf8');
    const [, script = ''] = /^ExecStart=\/bin\/sh -c '(.+)'$/m.exec(unit) ?? [];
    // systemd reads $$ as $ and %% as %.
    const command = script
      .replaceAll('$$', '$')
      .replaceAll('%%', '%')
      .replace(/^exec /, 'echo ');
    expect(execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).trim()).toMatch(
      /backup\.js \/var\/backups\/flotilla\/hub-\d{4}-\d\d-\d\d\.tar\.gz$/,
    );
  });

  it('removes backups after two weeks, also unfinished ones of a crash', () => {
    apply();
    const unit = readFileSync(path.join(root, place.unitDir, 'flotilla-backup.service'), 'utf8');
    const [, command = ''] = /^ExecStartPost=(.+)$/m.exec(unit) ?? [];
    const folder = path.join(root, place.backupDir);
    const names = ['hub-1.tar.gz', 'hub-2.tar.gz', 'hub-1.tar.gz.5e7a.unfinished', 'other'];
    for (const name of names) writeFileSync(path.join(folder, name), '');
    for (const name of names) if (!name.startsWith('hub-2')) utimesSync(path.join(folder, name), 1, 1);
    execFileSync('/bin/sh', ['-c', command.replace(place.backupDir, folder)]);
    expect(readdirSync(folder).sort()).toEqual(['hub-2.tar.gz', 'other']);
  });

  it('ends with what to do next, and with problems alone while there are some', () => {
    const steps = installPlan(place);
    const closing = { place, apply: false, steps, problems: [] };
    expect(closingText(closing)).toContain('Add --apply');
    expect(closingText({ ...closing, steps: [] })).toBe('All of it is there.');
    expect(closingText({ ...closing, apply: true })).toContain('then start the hub');
    const problems = ['Data of another hub.'];
    expect(closingText({ ...closing, problems })).toBe('Data of another hub.\nNothing was written.');
    expect(closingText({ ...closing, apply: true, problems })).toBe('Data of another hub.');
  });

  it('shows what it would write, and refuses places that a service cannot read', () => {
    const [, , , settings] = installPlan(place);
    expect(settings === undefined ? '' : stepText(settings, true)).toContain('    FLOTILLA_DATA_DIR=/var/lib/flotilla');
    const installed = { ...place, root: '/', node: '/usr/bin/node' };
    expect(placeProblems(installed)).toEqual([]);
    const hidden = { program: '/home/me/lib/flotilla-hub', node: '/root/.nvm/bin/node', dataDir: '/home/me/data' };
    expect(placeProblems({ ...installed, ...hidden })).toEqual([
      expect.stringMatching(/^The program .* may not read \/home\. Install the package/),
      expect.stringMatching(/^Node .* may not read \/root\. Install Node/),
      expect.stringMatching(/^The data folder .* may not read \/home\. Name another/),
    ]);
    expect(placeProblems({ ...installed, ...hidden, root })).toEqual([]);
  });

  it('refuses places that a unit cannot name: systemd would run another program', () => {
    const installed = { ...place, root: '/', node: '/usr/bin/node' };
    for (const program of ['/opt/my hubs/program', '/opt/100%/program', "/opt/o'neill/program"])
      expect(placeProblems({ ...installed, program })).toEqual([
        expect.stringMatching(/^The program .* without spaces and special characters\. Install the package/),
      ]);
    const odd = { program: '/opt/@scope+1/v1.2~rc,1/prógram', node: '/opt/node=24:x/bin/node' };
    expect(placeProblems({ ...installed, ...odd })).toEqual([]);
  });
});
