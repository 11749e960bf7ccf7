/** What `flotilla-hub install` makes: a user, folders and files. Applies it, or only says it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { backupService, backupTimer, firstSettings, hubService, type Installation } from './units.js';

export interface Place extends Installation {
  readonly unitDir: string;
  /** A folder that stands for /, such as of an image; no user is made and no owner is set there. */
  readonly root: string;
}

export type Step =
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number; readonly isOwned: boolean }
  | { readonly kind: 'file'; readonly path: string; readonly mode: number; readonly text: string };

/** Steps that are not done yet, in order. */
export function installPlan(place: Place): readonly Step[] {
  const { user, settingsDir, dataDir, backupDir, unitDir, root } = place;
  const steps: Step[] = [
    { kind: 'user', name: user },
    { kind: 'folder', path: settingsDir, mode: 0o750, isOwned: false },
    { kind: 'folder', path: dataDir, mode: 0o700, isOwned: true },
    { kind: 'folder', path: backupDir, mode: 0o700, isOwned: true },
    { kind: 'file', path: path.join(settingsDir, 'hub.env'), mode: 0o640, text: firstSettings(place) },
    ...Object.entries({
      'flotilla.service': hubService(place),
      'flotilla-backup.service': backupService(place),
      'flotilla-backup.timer': backupTimer,
    }).map(([name, text]) => ({ kind: 'file' as const, path: path.join(unitDir, name), mode: 0o644, text })),
  ];
  return steps.filter((step) => !isDone(step, { root, settingsDir }));
}

function isDone(step: Step, { root, settingsDir }: Pick<Place, 'root' | 'settingsDir'>): boolean {
  if (step.kind === 'user') return root !== '/' || hasUser(step.name);
  const target = path.join(root, step.path);
  if (!existsSync(target)) return false;
  const isOfOperator = step.kind === 'folder' || path.dirname(step.path) === settingsDir;
  return isOfOperator || readFileSync(target, 'utf8') === step.text;
}

function hasUser(name: string): boolean {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .some((line) => line.startsWith(`${name}:`));
}

export function applyStep(step: Step, { root, user, dataDir }: Pick<Place, 'root' | 'user' | 'dataDir'>): void {
  if (step.kind === 'user') {
    const options = ['--system', '--user-group', '--home-dir', dataDir, '--shell', '/usr/sbin/nologin', step.name];
    execFileSync('useradd', options);
    return;
  }
  const target = path.join(root, step.path);
  if (step.kind === 'folder') mkdirSync(target, { recursive: true });
  else {
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, step.text);
  }
  chmodSync(target, step.mode);
  if (root !== '/') return;
  const { uid, gid } = idsOf(user);
  const isOwned = step.kind === 'folder' && step.isOwned;
  chownSync(target, isOwned ? uid : 0, gid);
}

function idsOf(user: string): { readonly uid: number; readonly gid: number } {
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find(([name]) => name === user) ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`The user ${user} is not in /etc/passwd.`);
  return { uid: Number(uid), gid: Number(gid) };
}

export function stepText(step: Step, isWhole: boolean): string {
  switch (step.kind) {
    case 'user':
      return `user    ${step.name} (system, without a shell)`;
    case 'folder':
      return `folder  ${step.path} (mode 0${step.mode.toString(8)}${step.isOwned ? '' : ', of root'})`;
    case 'file':
      return `file    ${step.path} (mode 0${step.mode.toString(8)})${isWhole ? `\n${step.text.replace(/^/gm, '    ')}` : ''}`;
  }
}

/** Why the service could not run like this; undefined if it can. */
export function placeProblem({ program, root }: Pick<Place, 'program' | 'root'>): string | undefined {
  if (root !== '/') return undefined;
  const home = /^\/(home|root|tmp)(\/|$)/.exec(program)?.[1];
  return home === undefined
    ? undefined
    : `The program is in ${program}, and a service may not read /${home}. Install the package for all users: ` +
        'npm install --global --prefix /usr/local with its file, as root.';
}
