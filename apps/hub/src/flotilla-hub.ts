/**
 * `flotilla-hub`: the hub and its commands as one program, as the npm package installs it. Each
 * command is a file that also runs alone.
 */
import { createRequire } from 'node:module';

interface Entry {
  /** From the folder of the compiled app. */
  readonly file: string;
  readonly summary: string;
}

const commands: Readonly<Record<string, Entry>> = {
  start: { file: './program/main.js', summary: 'run the hub, as without a command; --demo adds a simulated fleet' },
  doctor: { file: './program/doctor.js', summary: 'check this machine, the settings and the services; --json' },
  backup: { file: './program/backup.js', summary: 'write a backup: backup FILE' },
  restore: { file: './program/restore.js', summary: 'restore a backup into an empty hub: restore FILE' },
  upgrade: {
    file: './program/upgrade.js',
    summary: 'upgrade --check: what the next start would change in the database',
  },
  install: {
    file: './program/install.js',
    summary: 'show the service for systemd and its folders; --apply writes them',
  },
  simulate: { file: '../../simulator/dist/program/main.js', summary: 'run simulated devices; simulate --help' },
  'audit-verify': { file: './program/audit-verify.js', summary: 'check that the audit trail was not changed' },
  'health-check': { file: './program/health-check.js', summary: 'exit code 0 while the hub of this machine is alive' },
};

/** A wrong command. */
const USAGE = 2;

const [name = 'start', ...rest] = process.argv.slice(2);

if (name === '--help' || name === '-h' || name === 'help') {
  const lines = Object.entries(commands).map(([command, { summary }]) => `  ${command.padEnd(14)}${summary}`);
  process.stdout.write(
    `flotilla-hub [command]\n\n${lines.join('\n')}\n\n` +
      'Settings come from environment variables and from .env in the working folder (.env.example lists them).\n',
  );
} else if (name === '--version') {
  const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string };
  process.stdout.write(`${version}\n`);
} else if (name.startsWith('-')) {
  await run('start', [name, ...rest]);
} else {
  await run(name, rest);
}

/** The files read their arguments from the process, like programs. */
async function run(command: string, words: readonly string[]): Promise<void> {
  const entry = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (entry === undefined) {
    process.stderr.write(`There is no command ${command}. Run flotilla-hub --help.\n`);
    process.exitCode = USAGE;
    return;
  }
  // The reader of a short command may stop early, such as `head`. A hub goes on without its reader.
  if (command !== 'start') process.stdout.on('error', stopWithoutReader);
  process.argv.splice(2, Infinity, ...words);
  await import(new URL(entry.file, import.meta.url).href);
}

function stopWithoutReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
