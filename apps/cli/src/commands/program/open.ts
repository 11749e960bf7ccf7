/** `flotilla open`: a page of the console in the browser. */
import { spawn } from 'node:child_process';
import { hubUrl } from '../../connection.js';
import { say, write } from '../../console/output.js';
import { UsageError } from '../../exit-codes.js';
import { leaf } from '../command.js';

/** Pages of the console without an id. */
export const pages = [
  'devices',
  'jobs',
  'recurring',
  'desired',
  'firmware',
  'enrolments',
  'calls',
  'measurements',
  'alerts',
  'events',
  'explore',
  'audit',
  'access',
  'webhooks',
  'settings',
] as const;
/** Pages of one thing, and where their addresses begin. */
export const things = { device: 'devices', job: 'jobs', 'desired-state': 'desired', alert: 'alerts' } as const;
const choices = [...Object.keys(things), ...pages];

export const openCommand = leaf({
  usage: 'open [page] [id]',
  summary: 'Open the console in the browser, and print the address',
  examples: ['open', 'open device 02:00:00:00:00:01', 'open alerts --no-browser'],
  options: (args) =>
    args
      .positional('page', { choices, describe: 'Page of the console' })
      .positional('id', { type: 'string', describe: 'Id of the device, job, desired state or alert' })
      .option('browser', { type: 'boolean', default: true, describe: 'Start a browser; --no-browser only prints' }),
  run: async (args) => {
    const address = consoleAddress(hubUrl(args), args.page, args.id);
    await write(`${address}\n`);
    // Without a terminal a script reads the address.
    if (!args.browser || !process.stdout.isTTY) return;
    const command = browserCommand(process.platform, process.env);
    if (command === undefined) return say('There is no browser here. Open the address on your computer.');
    await start([...command, address]);
  },
});

/** The address of a page. A page of one thing needs its id, and other pages take none. */
export function consoleAddress(hub: string, page: string | undefined, id: string | undefined): string {
  const base = hub.replace(/\/+$/, '');
  if (page === undefined) return `${base}/`;
  const folder = things[page as keyof typeof things] as string | undefined;
  if (folder === undefined && id !== undefined) throw new UsageError(`The page "${page}" has no id. Omit "${id}".`);
  if (folder !== undefined && id === undefined)
    throw new UsageError(`Which ${page}? Add its id, or open all with: flotilla open ${folder}`);
  return `${base}/${folder ?? page}${id === undefined ? '' : `/${encodeURIComponent(id).replaceAll('%3A', ':')}`}`;
}

/** The program that opens an address, or undefined without a screen. */
export function browserCommand(
  platform: NodeJS.Platform,
  environment: NodeJS.ProcessEnv,
): readonly string[] | undefined {
  if (platform === 'darwin') return ['open'];
  // Not `cmd /c start`, which would run parts of an address as commands.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const hasScreen = Boolean(environment['DISPLAY'] ?? environment['WAYLAND_DISPLAY']);
  return hasScreen ? ['xdg-open'] : undefined;
}

function start([program = '', ...words]: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(program, words, { detached: true, stdio: 'ignore' });
    child.once('error', () => {
      say(`${program} was not found. Open the address yourself.`);
      resolve();
    });
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}
