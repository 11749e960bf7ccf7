/** A Mosquitto for a story: Debian's mosquitto on a free port, without files of messages. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../eventually.js';
import { freePort } from './redis-server.js';

const program = ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto'].find((file) => existsSync(file)) ?? 'mosquitto';

export interface Mosquitto {
  readonly url: string;
  /** `kill -9`: all retained messages are lost. */
  kill(): Promise<void>;
  /** After `kill`: on the same port, empty. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** False, with the reason printed, without mosquitto; throws if all tests are required. */
export function isMosquittoInstalled(): boolean {
  if (spawnSync(program, ['-h']).error === undefined) return true;
  if (process.env['FLOTILLA_TEST_REQUIRE'] === 'all')
    throw new Error('FLOTILLA_TEST_REQUIRE=all, and mosquitto is not installed.');
  process.stderr.write('Skipping the stories of Home Assistant: mosquitto is not installed.\n');
  return false;
}

export async function startMosquitto(): Promise<Mosquitto> {
  const port = await freePort();
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-mosquitto-'));
  const file = path.join(folder, 'mosquitto.conf');
  writeFileSync(file, `listener ${String(port)} 127.0.0.1\nallow_anonymous true\npersistence false\n`);
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(program, ['-c', file], { stdio: 'ignore' });
    await eventually(
      () => isOpen(port),
      (open) => open,
    );
    return child;
  };
  let child = await start();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    url: `mqtt://127.0.0.1:${String(port)}`,
    kill,
    restart: async () => {
      child = await start();
    },
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
