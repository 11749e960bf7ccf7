/**
 * `flotilla-hub install`: shows a hardened service for systemd with its user, folders and settings.
 * Only `--apply` writes them. [docs/server.md]
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { messageOf } from './error-message.js';
import { closingText } from './install/closing-text.js';
import { dataProblem } from './install/folder-owner.js';
import {
  applyStep,
  installPlan,
  placeProblems,
  serviceUid,
  settingsProblem,
  stepText,
  type Place,
} from './install/install-plan.js';

const USAGE = 'Use: flotilla-hub install [--dry-run | --apply] [--user NAME] [--data-dir FOLDER] [--root FOLDER]';
/** Names of users, and folders that a unit file can name without quotes. */
const NAME = /^[a-z_][a-z0-9_-]{0,31}$/;
const FOLDER = /^\/[\w./-]+$/;

function placeOf(values: { readonly user: string; readonly 'data-dir': string; readonly root: string }): Place {
  const { user, 'data-dir': dataDir, root } = values;
  if (!NAME.test(user)) throw new Error(`--user ${user} is not a name of a system user, such as flotilla.`);
  if (!FOLDER.test(dataDir))
    throw new Error(`--data-dir ${dataDir} must be a full path of letters, digits, dots and dashes.`);
  return {
    user,
    dataDir,
    root: path.resolve(root),
    node: process.execPath,
    program: fileURLToPath(new URL('./program', import.meta.url)),
    settingsDir: '/etc/flotilla',
    backupDir: '/var/backups/flotilla',
    unitDir: '/etc/systemd/system',
  };
}

function main(): void {
  const { values } = parseArgs({
    options: {
      apply: { type: 'boolean', default: false },
      // What happens without --apply, for people who expect the word.
      'dry-run': { type: 'boolean', default: false },
      user: { type: 'string', default: 'flotilla' },
      'data-dir': { type: 'string', default: '/var/lib/flotilla' },
      root: { type: 'string', default: '/' },
    },
  });
  const place = placeOf(values);
  const { apply } = values;
  if (apply && values['dry-run']) throw new Error(`--dry-run writes nothing, and --apply writes. ${USAGE}`);
  const problems = placeProblems(place);
  if (problems.length > 0 && apply) throw new Error(problems.join('\n'));
  const steps = installPlan(place);
  if (apply && place.root === '/' && process.getuid?.() !== 0)
    throw new Error('Only root can write the service. Run this with sudo; without --apply it only shows what it does.');
  for (const step of steps) {
    if (apply) applyStep(step, place);
    process.stdout.write(`${stepText(step, !apply)}\n`);
  }
  const found = [...problems, dataProblem(place, serviceUid(place)), settingsProblem(place)];
  const left = found.filter((each) => each !== undefined);
  process.stderr.write(`${closingText({ place, apply, steps, problems: left })}\n`);
  if (apply && left.length > 0) process.exitCode = 1;
}

try {
  main();
} catch (error) {
  const reason = messageOf(error);
  process.stderr.write(`${reason.startsWith('Unknown option') ? `${reason} ${USAGE}` : reason}\n`);
  process.exitCode = 1;
}
