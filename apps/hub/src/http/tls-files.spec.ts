import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listenMqttOverTls, portOf } from '../roles/listeners.js';
import { TlsFiles, TlsFilesError } from './tls-files.js';

let folder: string;
const warnings: string[] = [];
const logger = { info: () => undefined, warn: (_details: object, message: string) => warnings.push(message) };
const closers: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'flotilla-tls-'));
  warnings.length = 0;
});

afterEach(() => {
  for (const close of closers.splice(0)) close();
  rmSync(folder, { recursive: true });
});

const inFolder = (name: string) => path.join(folder, name);
const names = { certFile: 'cert.pem', keyFile: 'key.pem' };

function makeCertificate(host: string, { certFile, keyFile } = names): void {
  const subject = ['-subj', `/CN=${host}`, '-days', '2', '-nodes'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, ...subject, '-keyout', inFolder(keyFile), '-out', inFolder(certFile)],
    {
      stdio: 'ignore',
    },
  );
}

async function openListener(): Promise<number> {
  const tls = new TlsFiles({ certFile: inFolder(names.certFile), keyFile: inFolder(names.keyFile), logger });
  const server = await listenMqttOverTls({ host: '127.0.0.1', port: 0, tls: tls.current }, (socket) =>
    socket.end('hello'),
  );
  tls.keepCurrent(server);
  closers.push(
    () => tls.close(),
    () => server.close(),
  );
  return portOf(server);
}

/** The name in the certificate that a new connection is shown. */
async function nameShown(port: number): Promise<string | undefined> {
  const socket: TLSSocket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return Array.isArray(CN) ? CN[0] : CN;
}

describe('the certificate files', () => {
  it('are read again when they are replaced, without a restart', async () => {
    makeCertificate('first.example');
    const port = await openListener();
    expect(await nameShown(port)).toBe('first.example');
    makeCertificate('second.example', { certFile: 'new-cert.pem', keyFile: 'new-key.pem' });
    renameSync(inFolder('new-key.pem'), inFolder('key.pem'));
    renameSync(inFolder('new-cert.pem'), inFolder('cert.pem'));
    await vi.waitFor(async () => expect(await nameShown(port)).toBe('second.example'), { timeout: 5_000 });
  });

  it('are read again when a link to them in another folder is replaced, as certbot does', async () => {
    for (const name of ['archive', 'live']) mkdirSync(inFolder(name));
    const link = (number: number) => {
      for (const name of ['key', 'cert']) {
        symlinkSync(`../archive/${name}${number}.pem`, inFolder('live/new.pem'));
        renameSync(inFolder('live/new.pem'), inFolder(`live/${name}.pem`));
      }
    };
    makeCertificate('first.example', { certFile: 'archive/cert1.pem', keyFile: 'archive/key1.pem' });
    link(1);
    for (const name of ['key.pem', 'cert.pem']) symlinkSync(`live/${name}`, inFolder(name));
    const port = await openListener();
    makeCertificate('second.example', { certFile: 'archive/cert2.pem', keyFile: 'archive/key2.pem' });
    link(2);
    await vi.waitFor(async () => expect(await nameShown(port)).toBe('second.example'), { timeout: 5_000 });
  });

  it('keep their last valid content while certificate and key do not match', async () => {
    makeCertificate('first.example');
    const port = await openListener();
    makeCertificate('second.example', { certFile: 'other-cert.pem', keyFile: 'other-key.pem' });
    copyFileSync(inFolder('other-cert.pem'), inFolder('cert.pem'));
    await vi.waitFor(() => expect(warnings.join()).toContain('the previous certificate stays'), { timeout: 5_000 });
    expect(await nameShown(port)).toBe('first.example');
  });

  it('end the start with their names when they cannot be used', () => {
    writeFileSync(inFolder('cert.pem'), 'no certificate');
    const open = () => new TlsFiles({ certFile: inFolder('cert.pem'), keyFile: inFolder('key.pem'), logger });
    expect(open).toThrow(TlsFilesError);
    expect(open).toThrow(/FLOTILLA_TLS_CERT.*cert\.pem/);
  });
});
