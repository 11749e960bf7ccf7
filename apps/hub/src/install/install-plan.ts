/** What `flotilla-hub install` makes: a user, folders and files. Applies it, or only says it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { dataProblem, isForeign } from './folder-owner.js';
import { backupService, backupTimer, firstSettings, hubService, type Installation } from './units.js';

export interface Place extends Installation {
  readonly unitDir: string;
  /** A folder that stands for /, such as of an image; no user is made and no owner is set there. */
  readonly root: string;
}

export type Step =
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number; readonly isOwned: boolean }
  /** Of a folder that exists. Mode and group stay: PostgreSQL of a hub of root may need them. */
  | { readonly kind: 'owner'; readonly path: string; readonly name: string }
  | { readonly kind: 'file'; readonly path: string; readonly mode: number; readonly text: string };

/** Steps that are not done yet, in order. Without the `uid` of the service, no owner is set. */
export function installPlan(place: Place, uid = serviceUid(place)): readonly Step[] {
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
  return steps.flatMap((step) => {
    if (!isDone(step, { root, settingsDir })) return [step];
    if (step.kind !== 'folder' || !step.isOwned || uid === undefined) return [];
    const isLeft = step.path === dataDir && dataProblem(place, uid) !== undefined;
    return isForeign(path.join(root, step.path), uid) && !isLeft
      ? [{ kind: 'owner', path: step.path, name: user }]
      : [];
  });
}

/** Before the user exists, no folder is its own. */
const NOT_YET = -1;

export function serviceUid({ root, user }: Pick<Place, 'root' | 'user'>): number | undefined {
  return root === '/' ? (idsOf(user)?.uid ?? NOT_YET) : undefined;
}

function isDone(step: Step, { root, settingsDir }: Pick<Place, 'root' | 'settingsDir'>): boolean {
  if (step.kind === 'user') return root !== '/' || idsOf(step.name) !== undefined;
  if (step.kind === 'owner') return false;
  const target = path.join(root, step.path);
  if (!existsSync(target)) return false;
  const isOfOperator = step.kind === 'folder' || path.dirname(step.path) === settingsDir;
  return isOfOperator || readFileSync(target, 'utf8') === step.text;
}

export function applyStep(step: Step, { root, user, dataDir }: Pick<Place, 'root' | 'user' | 'dataDir'>): void {
  if (step.kind === 'user') {
    const options = ['--system', '--user-group', '--home-dir', dataDir, '--shell', '/usr/sbin/nologin', step.name];
    execFileSync('useradd', options);
    return;
  }
  const target = path.join(root, step.path);
  if (step.kind === 'owner') return chownSync(target, madeIdsOf(user).uid, statSync(target).gid);
  if (step.kind === 'folder') mkdirSync(target, { recursive: true });
  else {
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, step.text);
  }
  chmodSync(target, step.mode);
  if (root !== '/') return;
  const { uid, gid } = madeIdsOf(user);
  const isOwned = step.kind === 'folder' && step.isOwned;
  chownSync(target, isOwned ? uid : 0, gid);
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

function madeIdsOf(user: string): Ids {
  const ids = idsOf(user);
  if (ids === undefined) throw new Error(`The user ${user} is not in /etc/passwd.`);
  return ids;
}

function idsOf(user: string): Ids | undefined {
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find(([name]) => name === user) ?? [];
  if (uid === undefined || gid === undefined) return undefined;
  return { uid: Number(uid), gid: Number(gid) };
}

export function stepText(step: Step, isWhole: boolean): string {
  switch (step.kind) {
    case 'user':
      return `user    ${step.name} (system, without a shell)`;
    case 'folder':
      return `folder  ${step.path} (mode 0${step.mode.toString(8)}${step.isOwned ? '' : ', of root'})`;
    case 'owner':
      return `owner   ${step.path} (${step.name}; another user has it)`;
    case 'file':
      return `file    ${step.path} (mode 0${step.mode.toString(8)})${isWhole ? `\n${step.text.replace(/^/gm, '    ')}` : ''}`;
  }
}

/** Systemd and the shell of the backup read other characters in a unit as their own. */
const NAMED_AS_IS = /^[\p{L}\p{N}_./@+:=,~-]+$/u;

/** Why the service could not run like this: what it may not read, and what to do. */
export function placeProblems({
  node,
  program,
  dataDir,
  root,
}: Pick<Place, 'node' | 'program' | 'dataDir' | 'root'>): readonly string[] {
  if (root !== '/') return [];
  const places = [
    ['The program', program, INSTALL_ADVICE],
    ['Node', node, 'Install Node for all users, such as below /usr/local, and run this command with it.'],
    ['The data folder', dataDir, 'Name another one with --data-dir, such as /var/lib/flotilla.'],
  ] as const;
  return places.flatMap(([name, place, advice]) => {
    if (!NAMED_AS_IS.test(place))
      return [`${name} is in ${place}, and a service needs a path without spaces and special characters. ${advice}`];
    const hidden = /^\/(home|root|tmp|var\/tmp|run\/user)(?=\/|$)/.exec(place)?.[0];
    return hidden === undefined ? [] : [`${name} is in ${place}, and a service may not read ${hidden}. ${advice}`];
  });
}

/** Why the hub could not write its data: the settings of an earlier installation stay. */
export function settingsProblem({
  settingsDir,
  dataDir,
  root,
}: Pick<Place, 'settingsDir' | 'dataDir' | 'root'>): string | undefined {
  const file = path.join(settingsDir, 'hub.env');
  const { FLOTILLA_DATA_DIR: kept = '.' } = parseEnv(textOf(path.join(root, file)));
  const isBelow = !path.relative(dataDir, path.resolve(dataDir, kept)).startsWith('..');
  return isBelow
    ? undefined
    : `${file} has FLOTILLA_DATA_DIR=${kept}, and the service may write only to ${dataDir}. ` +
        `Run this again with --data-dir ${kept}, or stop the hub, move its data and change the file.`;
}

/** Empty where there is no file, or only root can read it. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const INSTALL_ADVICE =
  'Install the package for all users: npm install --global --prefix /usr/local with its file, as root.';
