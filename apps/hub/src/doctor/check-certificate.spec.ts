import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkCertificate } from './check-certificate.js';
import { contextOf, problemsOf } from './doctor-fixture.suite.js';

const DAY_MS = 86_400_000;

describe('the certificate', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'flotilla-doctor-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function made(name: string, days = 90): NodeJS.ProcessEnv {
    const [cert, key] = ['cert.pem', 'key.pem'].map((file) => path.join(folder, file)) as [string, string];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
    execFileSync(
      'openssl',
      ['req', '-x509', ...curve, ...names, '-days', String(days), '-nodes', '-keyout', key, '-out', cert],
      { stdio: 'ignore' },
    );
    chmodSync(key, 0o600);
    return { FLOTILLA_TLS_CERT: cert, FLOTILLA_TLS_KEY: key, FLOTILLA_MQTTS_PORT: '0' };
  }
  const publicUrl = { FLOTILLA_PUBLIC_URL: 'https://hub.example.net' };

  it('belongs to its key, has the public names and is valid', async () => {
    const findings = await checkCertificate(contextOf({ ...made('hub.example.net'), ...publicUrl }));
    expect(problemsOf(findings)).toEqual([]);
    expect(findings.map(({ found }) => found)).toContain('is for hub.example.net');
    expect(findings).toContainEqual(expect.objectContaining({ status: 'warning', found: 'is self-signed' }));
  });

  it('is a problem with another name, after its end, and next to a foreign key', async () => {
    const env = { ...made('other.example.net'), ...publicUrl };
    expect(problemsOf(await checkCertificate(contextOf(env)))).toEqual([
      'is not for hub.example.net; its names are DNS:other.example.net',
    ]);
    const late = { now: () => Date.now() + 91 * DAY_MS };
    expect(problemsOf(await checkCertificate(contextOf(env, late)))).toContainEqual(
      expect.stringContaining('expired on'),
    );
    for (const [days, left] of [
      [80, 'in 9 days'],
      [88, 'in 1 day'],
      [89, 'in less than a day'],
    ] as const) {
      const soon = await checkCertificate(contextOf(env, { now: () => Date.now() + days * DAY_MS }));
      const found = expect.stringMatching(new RegExp(`, ${left}$`));
      expect(soon).toContainEqual(expect.objectContaining({ status: 'warning', found }));
    }
    const former = { ...env };
    execFileSync('openssl', ['ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', `${folder}/key.pem`]);
    expect(problemsOf(await checkCertificate(contextOf(former)))).toContain('does not belong to its key');
  });

  it('is a problem if a file is damaged, or cannot be read', async () => {
    const env = made('hub.example.net');
    const { FLOTILLA_TLS_CERT: cert = '', FLOTILLA_TLS_KEY: key = '' } = env;
    writeFileSync(cert, '-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n');
    const [damaged] = await checkCertificate(contextOf(env));
    expect(damaged).toMatchObject({
      found: `${cert} has a damaged certificate`,
      advice: expect.stringMatching(/again/),
    });
    rmSync(key);
    const [missing] = await checkCertificate(contextOf(env));
    expect(missing).toMatchObject({ status: 'problem', advice: 'Let the user of the hub read both files.' });
  });

  it('is missing on an open address', async () => {
    const [finding] = await checkCertificate(contextOf({ FLOTILLA_HOST: '0.0.0.0' }));
    expect(finding).toMatchObject({ status: 'warning' });
    const [local] = await checkCertificate(contextOf({}));
    expect(local).toMatchObject({ status: 'ok' });
  });
});
