import { describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../environment/config-error.js';
import { readConfig, unknownSettings } from './config.js';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the hub’s settings', () => {
  it('listen on loopback only and have all roles by default', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      httpPort: 8080,
      mqttPort: 1883,
      udpPort: 8884,
      roles: ['gateway', 'api', 'worker'],
      deviceAuth: 'credentials',
    });
  });

  it('treat an empty variable as an unset one', () => {
    expect(readConfig({ FLOTILLA_HTTP_PORT: '', DATABASE_URL: '' })).toMatchObject({
      httpPort: 8080,
      databaseUrl: undefined,
    });
  });

  it('leave out the line break at the end of a secret, which a file adds and no client can send', () => {
    const key = 'k'.repeat(32);
    const password = 'a password of 24 letters';
    expect(readConfig({ FLOTILLA_ADMIN_KEY: `${key}\n`, FLOTILLA_ADMIN_PASSWORD: `${password}\r\n` })).toMatchObject({
      adminKey: key,
      people: { firstAdmin: { password } },
    });
    expect(readConfig({ FLOTILLA_ADMIN_KEY: '\n' }).adminKey).toBeUndefined();
    const vision = { FLOTILLA_VISION_URL: 'https://models.example.net/v1', FLOTILLA_VISION_MODEL: 'eyes-1' };
    expect(readConfig({ ...vision, FLOTILLA_VISION_KEY: 'key\n' }).vision).toMatchObject({ key: 'key' });
    const provider = { FLOTILLA_OIDC_ISSUER: 'https://id.example.net', FLOTILLA_OIDC_CLIENT_ID: 'flotilla\n' };
    expect(readConfig(provider).people.oidc).toMatchObject({ clientId: 'flotilla' });
  });

  it('keep the line break of secrets from which a running hub has derived keys', () => {
    const [auditKey, deviceSecret] = [`${'a'.repeat(32)}\n`, `${'d'.repeat(32)}\n`];
    expect(readConfig({ FLOTILLA_AUDIT_KEY: auditKey, FLOTILLA_DEVICE_SECRET: deviceSecret })).toMatchObject({
      auditKey,
      deviceSecret,
    });
  });

  it('report all wrong values with their rules at once', () => {
    const problems = problemsOf({
      FLOTILLA_HTTP_PORT: '99999',
      FLOTILLA_ROLES: 'gatway',
      DATABASE_URL: 'mysql://x',
      FLOTILLA_ADMIN_KEY: 'short',
    });
    expect(problems).toHaveLength(4);
    expect(problems.join('\n')).toContain('FLOTILLA_HTTP_PORT must be a port number');
    expect(problems.join('\n')).toContain('not "gatway"');
    expect(problems.join('\n')).toContain('DATABASE_URL must be a URL');
    expect(problems.join('\n')).toContain('FLOTILLA_ADMIN_KEY must have at least 32 characters');
  });

  it.each(['0x50', '-1', '80.5', 'http', '70000'])('refuse the port %s', (value) => {
    expect(problemsOf({ FLOTILLA_MQTT_PORT: value })).toEqual([
      'FLOTILLA_MQTT_PORT must be a port number from 0 (pick a free one) to 65535, or off for no listener.',
    ]);
    expect(problemsOf({ FLOTILLA_UDP_PORT: value })).toEqual([
      'FLOTILLA_UDP_PORT must be a port number from 0 (pick a free one) to 65535.',
    ]);
  });

  it('close plain MQTT, and refuse to send devices there', () => {
    const off = { FLOTILLA_MQTT_PORT: 'off' };
    const tls = { FLOTILLA_TLS_CERT: '/cert.pem', FLOTILLA_TLS_KEY: '/key.pem' };
    expect(readConfig(off).mqttPort).toBeUndefined();
    expect(problemsOf({ FLOTILLA_HTTP_PORT: 'off' })[0]).toContain('FLOTILLA_HTTP_PORT must be a port number');
    expect(problemsOf({ ...off, FLOTILLA_PUBLIC_MQTT: 'hub.example.net' })[0]).toContain('leads to plain MQTT');
    expect(problemsOf({ ...off, ...tls, FLOTILLA_PUBLIC_MQTT: 'hub.example.net:1883' })[0]).toContain(
      'leads to plain MQTT',
    );
    for (const FLOTILLA_PUBLIC_MQTT of ['hub.example.net', 'hub.example.net:8883'])
      expect(problemsOf({ ...off, ...tls, FLOTILLA_PUBLIC_MQTT })).toEqual([]);
  });

  it('name the address of this gateway among those of all', () => {
    const all = { FLOTILLA_PUBLIC_MQTT: 'east.example.net,west.example.net:1883=2' };
    expect(readConfig({ ...all, FLOTILLA_OWN_MQTT: 'east.example.net' })).toMatchObject({
      ownMqtt: 'east.example.net:8883',
      publicMqtt: [
        { endpoint: 'east.example.net:8883', weight: 1 },
        { endpoint: 'west.example.net:1883', weight: 2 },
      ],
    });
    expect(problemsOf({ ...all, FLOTILLA_OWN_MQTT: 'west.example.net' })[0]).toContain(
      'FLOTILLA_OWN_MQTT names west.example.net:8883, which is not in FLOTILLA_PUBLIC_MQTT',
    );
    expect(problemsOf({ ...all, FLOTILLA_OWN_MQTT: 'a,b' })[0]).toContain('FLOTILLA_OWN_MQTT must be one address');
    expect(problemsOf({ FLOTILLA_DEVICES_MAX: '0' })[0]).toContain('FLOTILLA_DEVICES_MAX must be a number of devices');
  });

  it('require a key for metrics by default, and never open them to a proxy on this machine', () => {
    expect(readConfig({}).metricsAccess).toBe('key');
    const open = { FLOTILLA_METRICS: 'loopback' };
    expect(problemsOf({ ...open, FLOTILLA_TRUSTED_PROXIES: '10.0.0.0/8' })).toEqual([]);
    for (const FLOTILLA_TRUSTED_PROXIES of ['127.0.0.1', '127.0.0.2', '10.0.0.7,::1', '0.0.0.0/1'])
      expect(problemsOf({ ...open, FLOTILLA_TRUSTED_PROXIES })[0]).toContain('FLOTILLA_METRICS=loopback opens metrics');
    expect(problemsOf({ FLOTILLA_METRICS: 'open' })).toEqual(['FLOTILLA_METRICS must be key or loopback.']);
  });

  it('record traces only with an address, and one call of a hundred by default', () => {
    expect(readConfig({}).traces).toBeUndefined();
    const FLOTILLA_TRACES_URL = 'http://127.0.0.1:4318/v1/traces';
    expect(readConfig({ FLOTILLA_TRACES_URL }).traces).toEqual({ url: FLOTILLA_TRACES_URL, sample: 0.01 });
    for (const [text, sample] of [
      ['0', 0],
      ['1', 1],
      ['.5', 0.5],
      ['1.0', 1],
    ] as const)
      expect(readConfig({ FLOTILLA_TRACES_URL, FLOTILLA_TRACES_SAMPLE: text }).traces).toMatchObject({ sample });
    for (const text of ['1.5', '-1', '1%', 'all'])
      expect(problemsOf({ FLOTILLA_TRACES_SAMPLE: text })).toEqual([
        'FLOTILLA_TRACES_SAMPLE must be a share of calls from 0 to 1, such as 0.01.',
      ]);
    expect(problemsOf({ FLOTILLA_TRACES_URL: 'collector:4318' })).toEqual([
      'FLOTILLA_TRACES_URL must be a URL that begins with http: or https:.',
    ]);
  });

  it('refuse a token that is not valid in a header, without printing it', () => {
    expect(problemsOf({ FLOTILLA_VOICE_TOKEN: 'Token of-two-words' })).toEqual([]);
    for (const token of ['cut\n', 'schlüssel'])
      expect(problemsOf({ FLOTILLA_VOICE_TOKEN: token })).toEqual([
        'FLOTILLA_VOICE_TOKEN must be plain letters, digits and signs on one line.',
      ]);
  });

  it('accept a signing key or a token for voice servers, and no key without a server', () => {
    const key = { FLOTILLA_VOICE_SIGNING_KEY: '1f0c5b1e-secret' };
    expect(
      readConfig({ ...key, FLOTILLA_VOICE_URLS: 'wss://voice.example.net/path, ws://10.0.0.5:8000' }).voice,
    ).toMatchObject({
      credential: { kind: 'signing_key', key: '1f0c5b1e-secret' },
    });
    expect(
      problemsOf({ ...key, FLOTILLA_VOICE_URL: 'ws://10.0.0.5:8000/', FLOTILLA_VOICE_TOKEN: 'fixed' })[0],
    ).toContain('FLOTILLA_VOICE_TOKEN and FLOTILLA_VOICE_SIGNING_KEY exclude each other');
    expect(problemsOf(key)[0]).toContain('set one of these');
    expect(problemsOf({ FLOTILLA_VOICE_SIGNING_KEY: 'cut\n', FLOTILLA_VOICE_URL: 'ws://10.0.0.5:8000/' })).toEqual([
      'FLOTILLA_VOICE_SIGNING_KEY must be on one line, as the voice server has it.',
    ]);
    expect(problemsOf({ FLOTILLA_VOICE_URLS: 'https://voice.example.net' })).toEqual([
      'FLOTILLA_VOICE_URLS must list origins such as wss://voice.example.net, not "https://voice.example.net".',
    ]);
  });

  it('refuse open device access beyond loopback', () => {
    expect(problemsOf({ FLOTILLA_DEVICE_AUTH: 'open', FLOTILLA_HOST: '0.0.0.0' })[0]).toContain(
      'FLOTILLA_DEVICE_AUTH=open',
    );
    expect(problemsOf({ FLOTILLA_DEVICE_AUTH: 'open', FLOTILLA_HOST: '127.0.0.1' })).toEqual([]);
  });

  it('refuse split roles without a common database and Redis', () => {
    expect(problemsOf({ FLOTILLA_ROLES: 'gateway' })[0]).toContain('DATABASE_URL and REDIS_URL');
    expect(
      problemsOf({
        FLOTILLA_ROLES: 'gateway',
        DATABASE_URL: 'postgres://db/x',
        FLOTILLA_AUDIT_KEY: 'k'.repeat(32),
        REDIS_URL: 'redis://cache',
      }),
    ).toEqual([]);
  });

  it('read Redis as one server, Sentinels or a cluster, and never repeat its password', () => {
    const problemOf = (url: string) => problemsOf({ DATABASE_URL: 'postgres://db/x', REDIS_URL: url });
    expect(problemOf('redis-sentinel://hub:pw@a,b/0?sentinelMasterId=fleet')).toEqual([]);
    expect(problemOf('rediss-cluster://hub:pw@a:7000,b:7001')).toEqual([]);
    expect(problemOf('redis-sentinel://hub:secret@a,b')).toEqual([
      'REDIS_URL needs the name of the master in the Sentinels: ?sentinelMasterId=NAME.',
    ]);
    expect(problemOf('redis-cluster://hub:se/cret@a')[0]).not.toMatch(/cret@/);
  });

  it('refuse split roles without a common secret, which the audit chain needs', () => {
    const split = { FLOTILLA_ROLES: 'api', DATABASE_URL: 'postgres://db/x', REDIS_URL: 'redis://r' };
    expect(problemsOf(split)).toEqual([expect.stringContaining('FLOTILLA_AUDIT_KEY')]);
    expect(problemsOf({ ...split, FLOTILLA_AUDIT_KEY: 'k'.repeat(31) })).toEqual([
      expect.stringContaining('at least 32'),
    ]);
    for (const name of ['FLOTILLA_AUDIT_KEY', 'FLOTILLA_DEVICE_SECRET'])
      expect(problemsOf({ ...split, [name]: 'k'.repeat(32) })).toEqual([]);
  });

  it('keep only the origin of allowed device URLs and refuse other values', () => {
    expect(
      readConfig({ FLOTILLA_DEVICE_URLS: 'https://files.example.net/path, http://10.0.0.2:8000' }).deviceUrls,
    ).toEqual(['https://files.example.net', 'http://10.0.0.2:8000']);
    expect(problemsOf({ FLOTILLA_DEVICE_URLS: 'ftp://x' })[0]).toContain('must list origins');
  });

  it('report misspelt settings', () => {
    expect(unknownSettings({ FLOTILLA_HTPP_PORT: '1', FLOTILLA_HOST: 'x', HOME: '/' })).toEqual(['FLOTILLA_HTPP_PORT']);
    const ofCommandLine = { FLOTILLA_URL: 'http://127.0.0.1:8080', FLOTILLA_KEY: 'k', FLOTILLA_PROFILE: 'shop' };
    expect(unknownSettings(ofCommandLine)).toEqual([]);
  });

  it('refuse ports on which devices expect the other kind of MQTT', () => {
    expect(problemsOf({ FLOTILLA_MQTT_PORT: '8883' })[0]).toContain('FLOTILLA_MQTT_PORT may not be 8883');
    expect(problemsOf({ FLOTILLA_MQTTS_PORT: '8884' })[0]).toContain('FLOTILLA_MQTTS_PORT must be 8883');
    expect(problemsOf({ FLOTILLA_MQTTS_PORT: '0' })).toEqual([]);
  });

  it('refuse open enrolment on a network until it is confirmed', () => {
    const open = { FLOTILLA_ENROLMENT: 'open', FLOTILLA_HOST: '0.0.0.0' };
    expect(problemsOf(open)[0]).toContain('FLOTILLA_ENROLMENT_CONFIRM=open-to-anybody');
    expect(problemsOf({ ...open, FLOTILLA_ENROLMENT_CONFIRM: 'yes' })).toHaveLength(1);
    expect(problemsOf({ ...open, FLOTILLA_ENROLMENT_CONFIRM: 'open-to-anybody' })).toEqual([]);
    expect(problemsOf({ FLOTILLA_ENROLMENT: 'open' })).toEqual([]);
  });

  it('take the OTA address of a former server only with separate credentials of devices', () => {
    const upstream = { FLOTILLA_OTA_UPSTREAM: 'http://old.example:8002/xiaozhi/ota/' };
    expect(readConfig(upstream).otaUpstream).toBe(upstream.FLOTILLA_OTA_UPSTREAM);
    expect(readConfig({}).otaUpstream).toBeUndefined();
    expect(problemsOf({ ...upstream, FLOTILLA_DEVICE_AUTH: 'open' })[0]).toContain('FLOTILLA_DEVICE_AUTH=credentials');
    for (const wrong of ['old.example', 'ftp://old.example/', 'http://user@old.example/', 'http://old.example/?a=b'])
      expect(problemsOf({ FLOTILLA_OTA_UPSTREAM: wrong })[0]).toContain('FLOTILLA_OTA_UPSTREAM must');
  });

  it('refuse half a certificate, and addresses that devices cannot parse', () => {
    expect(problemsOf({ FLOTILLA_TLS_CERT: '/x.pem' })[0]).toContain('belong together');
    expect(problemsOf({ FLOTILLA_PUBLIC_MQTT: 'mqtt://hub' })[0]).toContain(
      'FLOTILLA_PUBLIC_MQTT must list host, host:port or host:port=weight',
    );
    expect(problemsOf({ FLOTILLA_PUBLIC_URL: 'http://[::1]' })[0]).toContain('FLOTILLA_PUBLIC_URL must name its host');
    expect(problemsOf({ FLOTILLA_DEVICE_TIMEZONE: 'Mars/Base' })[0]).toContain('tz database');
  });

  it('have the time zone of this machine unless they name one, and UTC where it names none', () => {
    const machine = new Intl.DateTimeFormat().resolvedOptions();
    const { timeZone } = machine;
    expect(readConfig({}).timeZone).toBe(timeZone);
    expect(readConfig({ FLOTILLA_DEVICE_TIMEZONE: 'Pacific/Chatham' }).timeZone).toBe('Pacific/Chatham');
    // What Node finds with TZ=''.
    const resolved = { ...machine, timeZone: 'Etc/Unknown' };
    vi.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockReturnValue(resolved);
    expect(readConfig({}).timeZone).toBe('UTC');
    vi.restoreAllMocks();
  });

  it('store files in the data folder by default', () => {
    expect(readConfig({ FLOTILLA_DATA_DIR: '/var/lib/hub' }).storage.url.href).toBe('file:///var/lib/hub/files');
    expect(problemsOf({ FLOTILLA_STORAGE_URL: '/srv/files' })[0]).toContain(
      'FLOTILLA_STORAGE_URL must be file:///folder or s3://bucket',
    );
  });

  it('refuse folders below /proc, where the start would hang', () => {
    const rule = 'must be a folder on a disk, not below /proc.';
    expect(problemsOf({ FLOTILLA_STORAGE_URL: 'file:///proc/files', FLOTILLA_DATA_DIR: '/srv/../proc/hub' })).toEqual([
      `FLOTILLA_DATA_DIR ${rule}`,
      `FLOTILLA_STORAGE_URL ${rule}`,
    ]);
    expect(readConfig({ FLOTILLA_DATA_DIR: '' }).dataDir).toBe('./.flotilla');
  });

  it('refuse a bucket that cannot be found, and an endpoint without a bucket', () => {
    const bucket = { FLOTILLA_STORAGE_URL: 's3://files/hub' };
    expect(problemsOf(bucket)[0]).toContain('needs AWS_REGION, or FLOTILLA_S3_ENDPOINT');
    expect(problemsOf({ ...bucket, AWS_REGION: 'eu-central-1' })).toEqual([]);
    expect(readConfig({ ...bucket, FLOTILLA_S3_ENDPOINT: 'http://minio:9000' }).storage.s3).toEqual({
      region: 'us-east-1',
      endpoint: 'http://minio:9000',
    });
    expect(problemsOf({ FLOTILLA_S3_ENDPOINT: 'http://minio:9000' })[0]).toContain('is for a bucket');
  });

  it('refuse a vision model without its name, a name without a model, and invalid days', () => {
    const vision = { FLOTILLA_VISION_URL: 'https://models.example.net/v1', FLOTILLA_VISION_MODEL: 'eyes-1' };
    expect(readConfig(vision).vision).toEqual({
      url: 'https://models.example.net/v1',
      key: undefined,
      model: 'eyes-1',
    });
    expect(problemsOf({ FLOTILLA_VISION_URL: vision.FLOTILLA_VISION_URL })[0]).toContain('needs FLOTILLA_VISION_MODEL');
    expect(problemsOf({ FLOTILLA_VISION_KEY: 'x' })[0]).toContain('Set FLOTILLA_VISION_URL');
    expect(readConfig({}).uploadsDays).toBe(30);
    for (const FLOTILLA_UPLOADS_DAYS of ['0', '-1', '1.5', '9999', 'never'])
      expect(problemsOf({ FLOTILLA_UPLOADS_DAYS })[0]).toContain('FLOTILLA_UPLOADS_DAYS must be a number of days');
  });
});
