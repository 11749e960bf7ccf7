/** The built command line, run as people and scripts run it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { HubProcess } from '../hub/hub-process.js';

export const flotillaBin = fileURLToPath(new URL('../../../apps/cli/bin/flotilla.js', import.meta.url));

export interface CommandOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives the process, to send it signals. */
  readonly started?: (child: ChildProcess) => void;
}

/** Environment of a command that reaches this hub. */
export function environmentFor({ httpUrl, adminKey }: Pick<HubProcess, 'httpUrl' | 'adminKey'>): NodeJS.ProcessEnv {
  return { ...process.env, FLOTILLA_URL: httpUrl, FLOTILLA_KEY: adminKey };
}

export async function flotilla(
  hub: Pick<HubProcess, 'httpUrl' | 'adminKey'>,
  args: readonly string[],
  { input = '', env = {}, started }: CommandOptions = {},
): Promise<CommandOutcome> {
  const child = spawn(process.execPath, [flotillaBin, ...args], { env: { ...environmentFor(hub), ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  child.stdin.on('error', () => undefined).end(input);
  started?.(child);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

/** Each line of the output, read as JSON. */
export function jsonLines<Line>({ stdout }: CommandOutcome): readonly Line[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}
