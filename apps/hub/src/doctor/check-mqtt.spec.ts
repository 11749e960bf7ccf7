/** The check of the MQTT address, against servers that answer CONNECT in different ways. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkMqtt } from './check-mqtt.js';

const CONNECT = Buffer.from('\x10\x1c\0\x04MQTT\x05\x02\0\x3c\0\0\x0fflotilla-doctor', 'latin1');
const REFUSED_VERSION = Buffer.of(0x20, 2, 0, 1);
const NO_TLS = 0;

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const answering = (answer: Buffer) => (socket: Socket) => {
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => socket.end(bytes.equals(CONNECT) ? answer : Buffer.alloc(0)));
};

/** A certificate that it issues itself. */
function certificateFor(names: string): { readonly cert: Buffer; readonly key: Buffer } {
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-mqtt-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const subject = ['-subj', '/CN=hub', '-addext', `subjectAltName=${names}`];
  const files = ['-nodes', '-keyout', `${folder}/key`, '-out', `${folder}/cert`];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
  return { cert: readFileSync(`${folder}/cert`), key: readFileSync(`${folder}/key`) };
}

describe('the MQTT address', () => {
  it.each([
    ['a hub', REFUSED_VERSION, 'ok', 'reaches a broker of MQTT 3.1.1'],
    ['a broker of MQTT 5', Buffer.of(0x20, 3, 0, 0, 0), 'problem', 'reaches another MQTT broker'],
    ['a web server', Buffer.from('HTTP/1.1 400 Bad Request'), 'problem', 'does not answer as an MQTT broker'],
    ['a proxy without a hub behind it', Buffer.alloc(0), 'problem', 'does not answer as an MQTT broker'],
  ])('leads to %s', async (_case, answer, status, found) => {
    const port = await portOf(createServer(answering(answer)));
    const finding = await checkMqtt(`127.0.0.1:${port}`, NO_TLS);
    expect(finding).toMatchObject({ status, found: expect.stringContaining(`127.0.0.1:${port} `) });
    expect(finding.found).toContain(found);
  });

  it.each([
    ['for its name', 'DNS:localhost', 'warning', 'not trusted: DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['for another name', 'DNS:other.example.net', 'problem', "does not match certificate's altnames"],
  ])('has a certificate %s on the port of TLS', async (_case, names, status, found) => {
    const port = await portOf(createTlsServer(certificateFor(names), answering(REFUSED_VERSION)));
    const finding = await checkMqtt(`localhost:${port}`, port);
    expect(finding).toMatchObject({ status, found: expect.stringContaining(found) });
  });

  it('is a problem without TLS on the port of TLS', async () => {
    const port = await portOf(createServer(answering(REFUSED_VERSION)));
    expect(await checkMqtt(`localhost:${port}`, port)).toMatchObject({ status: 'problem' });
  });
});
