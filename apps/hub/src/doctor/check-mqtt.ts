/**
 * Checks that a hub answers at the MQTT address of devices, over TLS where devices use it. The
 * CONNECT is of MQTT 5, which the hub refuses before it reads the client id: no device, no event
 * and no refusal is recorded.
 */
import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, TLSSocket } from 'node:tls';
import { MQTT_TLS_PORT } from '@flotilla/gateway';
import { generate } from 'mqtt-packet';
import { ok, problem, reasonOf, warning, type Finding } from './finding.js';

const CHECK = 'MQTT address';
/** A slower answer counts as none, ms. */
const ANSWERS_WITHIN_MS = 5_000;
const CONNECT = generate({
  cmd: 'connect',
  protocolVersion: 5,
  clientId: 'flotilla-doctor',
  clean: true,
  keepalive: 60,
});
/** CONNACK of a server without MQTT 5: unacceptable protocol version. [MQTT 3.2.2.3] */
const REFUSED_VERSION = Buffer.of(0x20, 2, 0, 1);
const CONNACK = 0x20;

/** The certificate is valid, except that this machine does not know who issued it. */
const unknownIssuer = /SELF_SIGNED|ISSUER|VERIFY_LEAF/;

interface Answer {
  /** The first bytes after CONNECT; none if the other end closed. */
  readonly bytes: Buffer;
  /** Why the certificate is not trusted. */
  readonly distrust: string | undefined;
}

/** `tlsPort` is the port on which devices use TLS. */
export async function checkMqtt(endpoint: string, tlsPort = MQTT_TLS_PORT): Promise<Finding> {
  const [, host = endpoint, port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(endpoint) ?? [];
  const isTls = Number(port) === tlsPort;
  try {
    const socket = dial(host, Number(port), isTls);
    return answerFinding(`${endpoint}${isTls ? ' over TLS' : ''}`, await answerOf(socket, host));
  } catch (error) {
    const advice = `Check DNS, firewall and port${isTls ? ', and the name of the certificate' : ''}.`;
    return problem(CHECK, `${endpoint} cannot be reached: ${reasonOf(error)}`, advice);
  }
}

function answerFinding(place: string, { bytes, distrust }: Answer): Finding {
  const advice = 'Let the address lead to the MQTT port of the hub.';
  if (bytes[0] !== CONNACK)
    return problem(CHECK, `${place} accepts connections, but does not answer as an MQTT broker`, advice);
  if (!bytes.equals(REFUSED_VERSION)) return problem(CHECK, `${place} reaches another MQTT broker`, advice);
  const found = `${place} reaches a broker of MQTT 3.1.1, as the hub is`;
  if (distrust === undefined) return ok(CHECK, found);
  const untrusted = `${found}, but its certificate is not trusted: ${distrust}`;
  return unknownIssuer.test(distrust)
    ? warning(CHECK, untrusted, 'Boards accept only certificates of public authorities.')
    : problem(CHECK, untrusted, 'Renew it. Boards that check it cannot connect.');
}

function dial(host: string, port: number, isTls: boolean): Socket {
  if (!isTls) return connect({ host, port });
  const name = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port, ...name, rejectUnauthorized: false });
}

/** Rejects if it cannot connect, or if the certificate is for another name. */
function answerOf(socket: Socket, host: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    let distrust: string | undefined;
    const timer = setTimeout(() => {
      if (socket.connecting) reject(new Error(`no answer within ${ANSWERS_WITHIN_MS / 1_000} s`));
      socket.destroy();
    }, ANSWERS_WITHIN_MS);
    socket.on('secureConnect', () => {
      if (!(socket instanceof TLSSocket)) return;
      const mismatch = checkServerIdentity(host, socket.getPeerCertificate());
      if (mismatch !== undefined) socket.destroy(mismatch);
      // Its type says Error, but Node writes the code.
      else if (!socket.authorized) distrust = String(socket.authorizationError);
    });
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length >= REFUSED_VERSION.length) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ bytes, distrust });
    });
    socket.write(CONNECT);
  });
}
