/** How many connections one listener accepts: a flood at one port must leave open files for the other ports, PostgreSQL and the data folder. */
import type { Server } from 'node:net';
import type { Logger } from 'pino';

/** Connections of one listener: more than the 18,000 sessions of a process, and each costs some 20 KiB before it says anything. */
const CONNECTIONS_MAX = 20_000;
/** Open files that one listener leaves to the rest of the process: so many, or a tenth where that is less. */
const FILES_LEFT = 1_000;
const FILES_LEFT_SHARE = 0.1;
/** One warning in this time, ms. */
const WARN_EVERY_MS = 60_000;

/** `openFilesMax` undefined: unknown or without a limit. */
export function connectionsMax(openFilesMax: number | undefined): number {
  if (openFilesMax === undefined) return CONNECTIONS_MAX;
  return Math.min(CONNECTIONS_MAX, openFilesMax - Math.ceil(Math.min(FILES_LEFT, openFilesMax * FILES_LEFT_SHARE)));
}

/** Connections beyond the bound are dropped, and the log says so. */
export function limitConnections<Listener extends Server>(
  server: Listener,
  logger: Pick<Logger, 'warn'>,
  max = connectionsMax(openFiles()),
): Listener {
  let warnedAt = -Infinity;
  server.maxConnections = max;
  server.on('drop', () => {
    const now = performance.now();
    if (now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    logger.warn({ connectionsMax: max }, 'a listener has as many connections as it may: further ones are dropped');
  });
  return server;
}

/** The soft limit of the process, which only Node's diagnostic report shows. */
function openFiles(): number | undefined {
  const report: unknown = process.report.getReport();
  const limits =
    report !== null && typeof report === 'object' && 'userLimits' in report ? report.userLimits : undefined;
  const files = limits !== null && typeof limits === 'object' && 'open_files' in limits ? limits.open_files : undefined;
  const soft = files !== null && typeof files === 'object' && 'soft' in files ? Number(files.soft) : Number.NaN;
  return Number.isFinite(soft) ? soft : undefined;
}
