/** Checks that each port of the settings is free, or in use by this hub. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { DoctorContext } from './doctor-context.js';
import { ok, problem, warning, type Finding } from './finding.js';

interface Listener {
  readonly setting: string;
  readonly port: number;
  readonly kind: 'tcp' | 'udp';
}

const CHECK = 'ports';
/** It accepts only 8883, on which devices use TLS, and 0. */
const MQTTS_SETTING = 'FLOTILLA_MQTTS_PORT';
/** Ports below need a right on most systems. */
const FIRST_FREE_PORT = 1024;

export async function checkPorts(context: DoctorContext): Promise<readonly Finding[]> {
  return Promise.all(listenersIn(context).map((listener) => checkPort(listener, context)));
}

function listenersIn({ config }: DoctorContext): readonly Listener[] {
  const { httpPort, mqttPort, mqttsPort, udpPort, tls } = config;
  const isGateway = config.roles.includes('gateway');
  return [
    { setting: 'FLOTILLA_HTTP_PORT', port: httpPort, kind: 'tcp' },
    ...(isGateway && mqttPort !== undefined
      ? [{ setting: 'FLOTILLA_MQTT_PORT', port: mqttPort, kind: 'tcp' as const }]
      : []),
    ...(isGateway && tls ? [{ setting: MQTTS_SETTING, port: mqttsPort, kind: 'tcp' as const }] : []),
    ...(isGateway ? [{ setting: 'FLOTILLA_UDP_PORT', port: udpPort, kind: 'udp' as const }] : []),
  ];
}

async function checkPort(listener: Listener, context: DoctorContext): Promise<Finding> {
  const { setting, port, kind } = listener;
  if (port === 0)
    return warning(
      CHECK,
      `${kind} port of ${setting} is 0`,
      setting === MQTTS_SETTING
        ? 'Each start picks another port. Set 8883, unless a TCP proxy has that port.'
        : 'Each start picks another port. Set a fixed one.',
    );
  return portFinding(listener, await bindError(kind, context.config.host, port), context);
}

/** `error` is the code of what a listener on the port gets. */
export function portFinding(
  { setting, port, kind }: Listener,
  error: string | undefined,
  { config, hubPid, isAnswering }: DoctorContext,
): Finding {
  const place = `${kind} ${port} (${setting})`;
  if (error === undefined) {
    const isMissing = isAnswering && hubPid !== undefined;
    return isMissing
      ? problem(CHECK, `${place} is not open, although the hub runs`, 'Restart the hub with these settings.')
      : ok(CHECK, `${place} is free`);
  }
  if (error === 'EADDRINUSE')
    return isAnswering
      ? ok(CHECK, `${place} is in use while the hub runs`)
      : problem(
          CHECK,
          `${place} is in use by another program`,
          setting === MQTTS_SETTING
            ? `Stop it, or behind a TCP proxy set ${setting} to 0.`
            : `Stop it, or set ${setting} to another port.`,
        );
  if (error === 'EACCES') return refusedFinding({ setting, port, place }, isAnswering);
  return problem(
    CHECK,
    `${place} cannot be opened on ${config.host}: ${error}`,
    'Set FLOTILLA_HOST to an own address.',
  );
}

/** Linux checks the right before the use. The service may have a right that this shell lacks. */
function refusedFinding(
  { setting, port, place }: Pick<Listener, 'setting' | 'port'> & { readonly place: string },
  isAnswering: boolean,
): Finding {
  if (isAnswering) return ok(CHECK, `${place} is left to the hub that runs: this user may not open it`);
  const found = `${place} may not be opened by this user`;
  return port < FIRST_FREE_PORT
    ? warning(CHECK, found, 'The service needs AmbientCapabilities=CAP_NET_BIND_SERVICE, or use a port from 1024.')
    : problem(CHECK, found, `Set ${setting} to another port.`);
}

/** The code of the error that a listener gets; undefined if it could listen. It closes at once. */
function bindError(kind: Listener['kind'], host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    if (kind === 'tcp') {
      const server = createServer();
      server.once('error', failed);
      server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
      return;
    }
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', (error) => {
      socket.close();
      failed(error);
    });
    socket.bind({ address: host, port, exclusive: true }, () => socket.close(() => resolve(undefined)));
  });
}
