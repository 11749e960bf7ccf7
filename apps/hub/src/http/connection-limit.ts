/**
 * Limits the connections of a listener, so that a flood at one port leaves open files for other
 * ports, PostgreSQL and the data folder.
 */
import type { Server } from 'node:net';
import type { Logger } from 'pino';

/** More than the 18,000 sessions of a process. An idle connection costs about 20 KiB. */
const CONNECTIONS_MAX = 20_000;
/** Open files that a listener leaves to the rest of the process; at most a tenth of the limit. */
const FILES_LEFT = 1_000;
const FILES_LEFT_SHARE = 0.1;
/** Time between two warnings, ms. */
const WARN_EVERY_MS = 60_000;

/** `openFilesMax` is undefined when it is unknown or unlimited. */
export function connectionsMax(openFilesMax: number | undefined): number {
  if (openFilesMax === undefined) return CONNECTIONS_MAX;
  return Math.min(CONNECTIONS_MAX, openFilesMax - Math.ceil(Math.min(FILES_LEFT, openFilesMax * FILES_LEFT_SHARE)));
}

/** Drops connections above the maximum and logs a warning. */
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
    logger.warn({ connectionsMax: max }, 'a listener reached its maximum of connections and drops new ones');
  });
  return server;
}

/** The soft limit of the process, which only Node's diagnostic report contains. */
function openFiles(): number | undefined {
  // Otherwise the report asks DNS for the name of each open connection, and the hub waits for it.
  Object.assign(process.report, { excludeNetwork: true });
  const report: unknown = process.report.getReport();
  const limits =
    report !== null && typeof report === 'object' && 'userLimits' in report ? report.userLimits : undefined;
  const files = limits !== null && typeof limits === 'object' && 'open_files' in limits ? limits.open_files : undefined;
  const soft = files !== null && typeof files === 'object' && 'soft' in files ? Number(files.soft) : Number.NaN;
  return Number.isFinite(soft) ? soft : undefined;
}
