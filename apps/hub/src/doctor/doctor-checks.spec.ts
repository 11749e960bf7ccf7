import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../environment/config-error.js';
import { checkMail } from './check-mail.js';
import { checkPorts, portFinding } from './check-ports.js';
import { checkStorage, databaseFindings, schemaFindingOf } from './check-services.js';
import { checkSystem } from './check-system.js';
import type { DoctorContext } from './doctor-context.js';
import { contextOf, problemsOf } from './doctor-fixture.suite.js';
import { examine } from './examine.js';
import { countText, findingText, ok, problem } from './finding.js';

describe('the mail server', () => {
  it('is asked for its greeting, and shown without the password', async () => {
    expect(await checkMail(contextOf({}))).toEqual([]);
    const server = createServer((socket) => {
      socket.on('error', () => undefined).write('220 mail.example.com ESMTP\r\n');
      socket.on('data', (text) =>
        socket.write(/^QUIT/i.test(String(text)) ? '221 bye\r\n' : '250 mail.example.com\r\n'),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const context = contextOf({ FLOTILLA_SMTP_URL: `smtp://${host}`, FLOTILLA_SMTP_FROM: 'hub@example.com' });
    expect(await checkMail(context)).toEqual([ok('mail', `${host} can be used`)]);
    server.close();
    await once(server, 'close');
    const secret = contextOf({ FLOTILLA_SMTP_URL: `smtp://u:hidden@${host}`, FLOTILLA_SMTP_FROM: 'hub@example.com' });
    const [found] = await checkMail(secret);
    expect(found).toMatchObject({ status: 'problem', found: expect.stringContaining('ECONNREFUSED') });
    expect(JSON.stringify(found)).not.toContain('hidden');
  });
});

describe('the ports', () => {
  it('are free, or named with what to do', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const env = { FLOTILLA_HTTP_PORT: String(port), FLOTILLA_MQTT_PORT: 'off', FLOTILLA_UDP_PORT: '0' };
    expect(problemsOf(await checkPorts(contextOf(env)))).toEqual([
      `tcp ${port} (FLOTILLA_HTTP_PORT) is in use by another program`,
    ]);
    expect(problemsOf(await checkPorts(contextOf(env, { isAnswering: true, hubPid: 1 })))).toEqual([]);
    taken.close();
    await once(taken, 'close');
    expect(problemsOf(await checkPorts(contextOf(env)))).toEqual([]);
    const notOpen = await checkPorts(contextOf(env, { isAnswering: true, hubPid: 1 }));
    expect(problemsOf(notOpen)).toEqual([`tcp ${port} (FLOTILLA_HTTP_PORT) is not open, although the hub runs`]);
  });

  it('below 1024 are left to a hub that runs, and else need a right of its service', () => {
    const https = { setting: 'FLOTILLA_HTTP_PORT', port: 443, kind: 'tcp' } as const;
    expect(portFinding(https, 'EACCES', contextOf({}, { isAnswering: true }))).toMatchObject({ status: 'ok' });
    expect(portFinding(https, 'EACCES', contextOf({}))).toMatchObject({ status: 'warning' });
    expect(portFinding({ ...https, port: 8080 }, 'EACCES', contextOf({}))).toMatchObject({ status: 'problem' });
  });

  it('have no other number for MQTT over TLS', () => {
    const mqtts = { setting: 'FLOTILLA_MQTTS_PORT', port: 8883, kind: 'tcp' } as const;
    expect(portFinding(mqtts, 'EADDRINUSE', contextOf({}))).toMatchObject({
      advice: 'Stop it, or behind a TCP proxy set FLOTILLA_MQTTS_PORT to 0.',
    });
  });

  it('need an address of this machine', async () => {
    const env = { FLOTILLA_HOST: '192.0.2.77', FLOTILLA_HTTP_PORT: '8080', FLOTILLA_MQTT_PORT: 'off' };
    const [first] = await checkPorts(contextOf(env));
    expect(first).toMatchObject({ status: 'problem', advice: 'Set FLOTILLA_HOST to an own address.' });
  });
});

describe('the open files', () => {
  it('are those of this shell only if no hub runs', async (context) => {
    if (process.platform !== 'linux') context.skip('only Linux has limits in /proc');
    const checked = async (more: Partial<DoctorContext>) =>
      (await checkSystem(contextOf({}, more))).find(({ check }) => check === 'open files')?.found;
    expect(await checked({})).toContain('of this shell');
    expect(await checked({ isAnswering: true, hubPid: process.pid })).toContain('of the hub that runs');
    expect(await checked({ isAnswering: true })).toBeUndefined();
  });
});

describe('the database', () => {
  const facts = {
    version: '17.2',
    versionNumber: 170_002,
    encoding: 'UTF8',
    latencyMs: 1,
    clockAheadMs: 3,
    databaseBytes: 1e7,
    settings: { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', default_transaction_read_only: 'off' },
    connections: { used: 5, max: 100 },
  };

  it('is well, or each fault is named', () => {
    expect(databaseFindings(facts).every(({ status }) => status === 'ok')).toBe(true);
    const bad = databaseFindings({
      ...facts,
      versionNumber: 140_000,
      encoding: 'SQL_ASCII',
      latencyMs: 50,
      clockAheadMs: -90_000,
      settings: { ...facts.settings, fsync: 'off', default_transaction_read_only: 'on' },
      connections: { used: 95, max: 100 },
    });
    expect(bad.filter(({ status }) => status === 'ok')).toEqual([]);
    expect(bad.every(({ advice }) => advice !== '')).toBe(true);
    expect(bad).toHaveLength(7);
  });

  it('of a newer version is a warning, because the former version runs on it', () => {
    const newer = { isInstalled: true, pending: [], unknown: ['9999_later'] };
    expect(schemaFindingOf(newer)).toMatchObject({ status: 'warning', found: expect.stringContaining('9999_later') });
    expect(schemaFindingOf({ ...newer, pending: ['0002_own'] })).toMatchObject({ status: 'problem' });
    expect(schemaFindingOf({ ...newer, unknown: [] })).toMatchObject({ status: 'ok' });
  });
});

describe('the storage', () => {
  it('is checked without a change to its folder, also before the first start of the hub', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-doctor-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const env = { FLOTILLA_STORAGE_URL: `file://${folder}` };
    expect(await checkStorage(contextOf(env))).toEqual([
      ok('storage', `${folder} can be used; the next start prepares it`),
    ]);
    expect(readdirSync(folder)).toEqual([]);
    const leftover = path.join(folder, '.incoming', 'half');
    mkdirSync(path.dirname(leftover));
    writeFileSync(leftover, 'half');
    utimesSync(leftover, 1, 1);
    expect(await checkStorage(contextOf(env))).toEqual([ok('storage', `${folder} can be used`)]);
    expect(readdirSync(path.dirname(leftover))).toEqual(['half']);
    rmSync(path.dirname(leftover), { recursive: true });
    // Its disk was unmounted while the hub runs.
    await expect(checkStorage(contextOf(env, { isAnswering: true }))).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
    });
  });
});

describe('the doctor', () => {
  it('reports wrong settings alone, because all else depends on them', async () => {
    const environment = { FLOTILLA_HTTP_PORT: 'many', DATABASE_URL: 'mysql://x' };
    const findings = await examine(() => environment, Date.now);
    expect(findings.map(({ check, status }) => [check, status])).toEqual([
      ['settings', 'problem'],
      ['settings', 'problem'],
    ]);
  });

  it('warns about the settings about which the start warns', async () => {
    const environment = { FLOTILLA_VOICE_TOKEN: 'token', FLOTILLA_HTPP_PORT: '1', FLOTILLA_DATA_DIR: '/nowhere' };
    const findings = await examine(() => environment, Date.now);
    expect(findings.filter(({ check }) => check === 'settings')).toMatchObject([
      { status: 'warning', found: expect.stringContaining('FLOTILLA_HTPP_PORT is not a setting of the hub') },
      { status: 'warning', found: 'FLOTILLA_VOICE_TOKEN has no effect without FLOTILLA_VOICE_URL' },
    ]);
  });

  it('reports a file of settings that cannot be read like a wrong setting', async () => {
    const readEnvironment = () => {
      throw new ConfigError(['/srv/.env cannot be read: EACCES.']);
    };
    expect(await examine(readEnvironment, Date.now)).toMatchObject([
      { check: 'settings', status: 'problem', found: '/srv/.env cannot be read: EACCES.' },
    ]);
  });

  it('prints a line for each check, and what to do below it', () => {
    expect(findingText(ok('node', '24.1.0'))).toBe('ok       node          24.1.0');
    expect(findingText(problem('ports', 'tcp 80', 'Stop it.'))).toMatch(/^problem {2}ports +tcp 80\n +Stop it\.$/);
    expect(countText([ok('a', 'b'), problem('a', 'b', 'c')])).toBe('Checks: 2, problems: 1, warnings: 0.');
  });
});
