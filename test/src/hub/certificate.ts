/** A self-signed certificate in a temporary folder, for a hub with TLS. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface TestCertificate {
  /** Settings of a hub that uses it, with MQTT over TLS on a free port. */
  readonly env: {
    readonly FLOTILLA_TLS_CERT: string;
    readonly FLOTILLA_TLS_KEY: string;
    readonly FLOTILLA_MQTTS_PORT: '0';
  };
  remove(): void;
}

export function makeCertificate(name: string): TestCertificate {
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-story-tls-'));
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', ['req', '-x509', ...curve, '-subj', `/CN=${name}`, '-days', '2', '-nodes', ...files], {
    stdio: 'ignore',
  });
  return {
    env: { FLOTILLA_TLS_CERT: certFile, FLOTILLA_TLS_KEY: keyFile, FLOTILLA_MQTTS_PORT: '0' },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
