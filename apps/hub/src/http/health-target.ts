/** Where the health check finds the hub of this machine. */
const DEFAULT_PORT = '8080';
const PORT_MAX = 65_535;

/** Where a listener on all addresses is reached locally. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

interface HealthTarget {
  readonly host: string;
  readonly port: number;
}

/** Throws an error for a port that is not a number. Node would use port 80 for it. */
export function healthTarget(env: Readonly<Record<string, string | undefined>>): HealthTarget {
  const host = env['FLOTILLA_HOST'] || '127.0.0.1';
  const port = env['FLOTILLA_HTTP_PORT'] || DEFAULT_PORT;
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > PORT_MAX)
    throw new Error(`FLOTILLA_HTTP_PORT must be the port of the hub, from 1 to ${PORT_MAX}, not "${port}".`);
  return { host: everywhere[host] ?? host, port: Number(port) };
}
