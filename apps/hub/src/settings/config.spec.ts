import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig, unknownSettings } from './config.js';

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
  it('have defaults that listen on loopback only and take all roles', () => {
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
    expect(readConfig({ FLOTILLA_HTTP_PORT: '', DATABASE_URL: '' })).toMatchObject({ httpPort: 8080, databaseUrl: undefined });
  });

  it('name every wrong value with its rule, all at once', () => {
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

  it.each(['0x50', '-1', '80.5', 'http'])('refuse the port %s', (value) => {
    expect(problemsOf({ FLOTILLA_MQTT_PORT: value })).toEqual([
      'FLOTILLA_MQTT_PORT must be a port number from 0 (pick a free one) to 65535.',
    ]);
  });

  it('refuse a token that no header takes, without telling it', () => {
    expect(problemsOf({ FLOTILLA_VOICE_TOKEN: 'Token of-two-words' })).toEqual([]);
    for (const token of ['cut\n', 'schlüssel'])
      expect(problemsOf({ FLOTILLA_VOICE_TOKEN: token })).toEqual([
        'FLOTILLA_VOICE_TOKEN must be plain letters, digits and signs on one line.',
      ]);
  });

  it('refuse open device access beyond loopback', () => {
    expect(problemsOf({ FLOTILLA_DEVICE_AUTH: 'open', FLOTILLA_HOST: '0.0.0.0' })[0]).toContain('FLOTILLA_DEVICE_AUTH=open');
    expect(problemsOf({ FLOTILLA_DEVICE_AUTH: 'open', FLOTILLA_HOST: '127.0.0.1' })).toEqual([]);
  });

  it('refuse split roles without the database and Redis that they need in common', () => {
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

  it('refuse split roles without a common secret: keys of their own would break the audit chain', () => {
    const split = { FLOTILLA_ROLES: 'api', DATABASE_URL: 'postgres://db/x', REDIS_URL: 'redis://r' };
    expect(problemsOf(split)).toEqual([expect.stringContaining('FLOTILLA_AUDIT_KEY')]);
    expect(problemsOf({ ...split, FLOTILLA_AUDIT_KEY: 'k'.repeat(31) })).toEqual([expect.stringContaining('at least 32')]);
    for (const name of ['FLOTILLA_AUDIT_KEY', 'FLOTILLA_DEVICE_SECRET'])
      expect(problemsOf({ ...split, [name]: 'k'.repeat(32) })).toEqual([]);
  });

  it('keep only the origin of allowed device URLs and refuse what is none', () => {
    expect(readConfig({ FLOTILLA_DEVICE_URLS: 'https://files.example.net/path, http://10.0.0.2:8000' }).deviceUrls).toEqual([
      'https://files.example.net',
      'http://10.0.0.2:8000',
    ]);
    expect(problemsOf({ FLOTILLA_DEVICE_URLS: 'ftp://x' })[0]).toContain('must list origins');
  });

  it('report misspelt settings', () => {
    expect(unknownSettings({ FLOTILLA_HTPP_PORT: '1', FLOTILLA_HOST: 'x', HOME: '/' })).toEqual(['FLOTILLA_HTPP_PORT']);
  });

  it('refuse ports that devices would take for the other kind of MQTT', () => {
    expect(problemsOf({ FLOTILLA_MQTT_PORT: '8883' })[0]).toContain('FLOTILLA_MQTT_PORT may not be 8883');
    expect(problemsOf({ FLOTILLA_MQTTS_PORT: '8884' })[0]).toContain('FLOTILLA_MQTTS_PORT must be 8883');
    expect(problemsOf({ FLOTILLA_MQTTS_PORT: '0' })).toEqual([]);
  });

  it('refuse enrolment of everybody beyond loopback until it is confirmed', () => {
    const open = { FLOTILLA_ENROLMENT: 'open', FLOTILLA_HOST: '0.0.0.0' };
    expect(problemsOf(open)[0]).toContain('FLOTILLA_ENROLMENT_CONFIRM=open-to-anybody');
    expect(problemsOf({ ...open, FLOTILLA_ENROLMENT_CONFIRM: 'yes' })).toHaveLength(1);
    expect(problemsOf({ ...open, FLOTILLA_ENROLMENT_CONFIRM: 'open-to-anybody' })).toEqual([]);
    expect(problemsOf({ FLOTILLA_ENROLMENT: 'open' })).toEqual([]);
  });

  it('refuse half a certificate, and addresses that devices cannot parse', () => {
    expect(problemsOf({ FLOTILLA_TLS_CERT: '/x.pem' })[0]).toContain('belong together');
    expect(problemsOf({ FLOTILLA_PUBLIC_MQTT: 'mqtt://hub' })[0]).toContain('FLOTILLA_PUBLIC_MQTT must be host or host:port');
    expect(problemsOf({ FLOTILLA_PUBLIC_URL: 'http://[::1]' })[0]).toContain('FLOTILLA_PUBLIC_URL must name its host');
    expect(problemsOf({ FLOTILLA_DEVICE_TIMEZONE: 'Mars/Base' })[0]).toContain('tz database');
  });

  it('keep files in the data folder where nothing else is said', () => {
    expect(readConfig({ FLOTILLA_DATA_DIR: '/var/lib/hub' }).storage.url.href).toBe('file:///var/lib/hub/files');
    expect(problemsOf({ FLOTILLA_STORAGE_URL: '/srv/files' })[0]).toContain('FLOTILLA_STORAGE_URL must be file:///folder or s3://bucket');
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

  it('refuse a vision model without its name, a name without a model, and days that are none', () => {
    const vision = { FLOTILLA_VISION_URL: 'https://models.example.net/v1', FLOTILLA_VISION_MODEL: 'eyes-1' };
    expect(readConfig(vision).vision).toEqual({ url: 'https://models.example.net/v1', key: undefined, model: 'eyes-1' });
    expect(problemsOf({ FLOTILLA_VISION_URL: vision.FLOTILLA_VISION_URL })[0]).toContain('needs FLOTILLA_VISION_MODEL');
    expect(problemsOf({ FLOTILLA_VISION_KEY: 'x' })[0]).toContain('give FLOTILLA_VISION_URL');
    expect(readConfig({}).uploadsDays).toBe(30);
    for (const FLOTILLA_UPLOADS_DAYS of ['0', '-1', '1.5', '9999', 'never'])
      expect(problemsOf({ FLOTILLA_UPLOADS_DAYS })[0]).toContain('FLOTILLA_UPLOADS_DAYS must be a number of days');
  });
});
