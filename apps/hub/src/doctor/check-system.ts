/** Checks this machine: Node, clock, open files, buffers of UDP, memory. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { promisify } from 'node:util';
import { olderNodeHint } from '../node-version.js';
import type { DoctorContext } from './doctor-context.js';
import { ok, problem, warning, type Finding } from './finding.js';

/** Files of the hub besides one per device: database, listeners, logs, uploads. */
const OTHER_FILES = 1_000;
/** A receive buffer for 500 conversations, bytes. [docs/operations.md, "Ports"] */
const UDP_BUFFER_BYTES = 2 * 1024 * 1024;
const MEMORY_BYTES_MIN = 900 * 1024 * 1024;
/** No machine has an earlier date; the version was made after it. */
const EARLIEST = Date.parse('2026-11-01T00:00:00Z');

export async function checkSystem(context: DoctorContext): Promise<readonly Finding[]> {
  return [
    nodeFinding(),
    await clockFinding(context.now()),
    ...(context.config.roles.includes('gateway') ? [await filesFinding(context), await bufferFinding()] : []),
    memoryFinding(),
  ].flatMap((finding) => finding ?? []);
}

function nodeFinding(): Finding {
  const { node } = process.versions;
  const hint = olderNodeHint(node);
  return hint === undefined ? ok('node', node) : warning('node', node, hint);
}

/** Asks this machine only: the doctor contacts no time server. */
async function clockFinding(now: number): Promise<Finding> {
  const shown = new Date(now).toISOString();
  if (now < EARLIEST)
    return problem('clock', `${shown} is before this version was made`, 'Set the clock, and use NTP.');
  const isSynchronized = await promisify(execFile)('timedatectl', [
    'show',
    '--property=NTPSynchronized',
    '--value',
  ]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (isSynchronized === 'no') return warning('clock', `${shown}, not synchronized`, 'Run: timedatectl set-ntp true');
  return ok('clock', isSynchronized === 'yes' ? `${shown}, synchronized` : shown);
}

/** Of the hub if it runs, because its service may have another limit than this shell. */
async function filesFinding({ config, hubPid, isAnswering }: DoctorContext): Promise<Finding | undefined> {
  // A hub with its own DATABASE_URL locks no data folder, so its process is unknown.
  if (isAnswering && hubPid === undefined) return undefined;
  const limits = await readFile(`/proc/${hubPid ?? 'self'}/limits`, 'utf8').catch(() => '');
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  if (soft === undefined) return undefined;
  const whose = hubPid === undefined ? 'of this shell' : 'of the hub that runs';
  const needed = config.devicesMax + OTHER_FILES;
  return soft === 'unlimited' || Number(soft) >= needed
    ? ok('open files', `limit ${whose}: ${soft}`)
    : warning(
        'open files',
        `limit ${whose}: ${soft}; FLOTILLA_DEVICES_MAX=${config.devicesMax} needs ${needed}`,
        'Set LimitNOFILE=65536 in the service, run ulimit -n 65536 in the shell, or lower FLOTILLA_DEVICES_MAX.',
      );
}

async function bufferFinding(): Promise<Finding | undefined> {
  const text = await readFile('/proc/sys/net/core/rmem_max', 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const bytes = Number(text.trim());
  return bytes >= UDP_BUFFER_BYTES
    ? ok('UDP buffers', `net.core.rmem_max is ${bytes}`)
    : warning(
        'UDP buffers',
        `net.core.rmem_max is ${bytes}, so audio of many conversations may be lost`,
        `With a voice server, write net.core.rmem_max=${UDP_BUFFER_BYTES} to a file in /etc/sysctl.d.`,
      );
}

function memoryFinding(): Finding {
  const bytes = Math.min(totalmem(), process.constrainedMemory?.() || Infinity);
  const shown = `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  return bytes >= MEMORY_BYTES_MIN
    ? ok('memory', shown)
    : warning('memory', shown, 'Give the hub with its embedded PostgreSQL at least 1 GiB.');
}
