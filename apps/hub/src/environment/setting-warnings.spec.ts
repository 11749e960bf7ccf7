import { describe, expect, it } from 'vitest';
import { settingWarnings } from './setting-warnings.js';

const foundIn = (environment: Record<string, string>) => settingWarnings(environment).map(({ found }) => found);

describe('warnings about settings', () => {
  it('name misspelt settings, and do not name defaults and empty values', () => {
    expect(settingWarnings({ FLOTILLA_HTPP_PORT: '1', FLOTILLA_VOICE_TOKEN: '' })).toEqual([
      { found: 'FLOTILLA_HTPP_PORT is not a setting of the hub and has no effect.', advice: 'Check its spelling.' },
    ]);
    expect(foundIn({ FLOTILLA_TRACES_SAMPLE: '0.01', FLOTILLA_OIDC_LABEL: 'Single sign-on' })).toEqual([]);
  });

  it.each([
    ['FLOTILLA_VOICE_TOKEN', 'token', 'FLOTILLA_VOICE_URL', 'ws://10.0.0.5:8000/'],
    ['FLOTILLA_VOICE_USER_TOOLS', 'on', 'FLOTILLA_VOICE_URL', 'ws://10.0.0.5:8000/'],
    ['FLOTILLA_TRACES_SAMPLE', '1', 'FLOTILLA_TRACES_URL', 'http://127.0.0.1:4318/v1/traces'],
    ['FLOTILLA_FORWARDING_HEADER', 'forwarded', 'FLOTILLA_TRUSTED_PROXIES', '10.0.0.0/8'],
    ['FLOTILLA_APPROVAL_DEVICES', '0', 'FLOTILLA_APPROVALS', 'firmware'],
  ])('say that %s=%s has no effect without %s', (setting, value, needed, fit) => {
    expect(settingWarnings({ [setting]: value })).toEqual([
      { found: `${setting} has no effect without ${needed}.`, advice: `Set ${needed}, too, or remove ${setting}.` },
    ]);
    expect(foundIn({ [setting]: value, [needed]: fit })).toEqual([]);
  });

  it.each(['approve', 'closed'])('say that the confirmation of open enrolment has no effect with %s', (enrolment) => {
    const confirmed = { FLOTILLA_ENROLMENT_CONFIRM: 'open-to-anybody' };
    expect(foundIn({ ...confirmed, FLOTILLA_ENROLMENT: enrolment })).toEqual([
      'FLOTILLA_ENROLMENT_CONFIRM has no effect without FLOTILLA_ENROLMENT=open.',
    ]);
    expect(foundIn({ ...confirmed, FLOTILLA_ENROLMENT: 'open' })).toEqual([]);
  });

  it('say that roles of an identity provider have no effect without the provider', () => {
    const roles = {
      FLOTILLA_OIDC_ROLE_CLAIM: 'groups',
      FLOTILLA_OIDC_ROLES: 'fleet=operator',
      FLOTILLA_OIDC_DEFAULT_ROLE: 'viewer',
    };
    expect(foundIn(roles)).toEqual(
      Object.keys(roles).map((name) => `${name} has no effect without FLOTILLA_OIDC_ISSUER.`),
    );
    const provider = { FLOTILLA_OIDC_ISSUER: 'https://id.example.net', FLOTILLA_OIDC_CLIENT_ID: 'flotilla' };
    expect(foundIn({ ...roles, ...provider })).toEqual([]);
  });

  it('compare how long measurements and their roll-ups are kept', () => {
    expect(foundIn({ FLOTILLA_MEASUREMENTS_DAYS: '30', FLOTILLA_MEASUREMENTS_ROLLUP_DAYS: '30' })).toEqual([]);
    expect(foundIn({ FLOTILLA_MEASUREMENTS_DAYS: '31', FLOTILLA_MEASUREMENTS_ROLLUP_DAYS: '30' })).toEqual([
      'FLOTILLA_MEASUREMENTS_DAYS (31) is more than FLOTILLA_MEASUREMENTS_ROLLUP_DAYS (30), so charts of long ' +
        'periods end before the points do.',
    ]);
  });

  it('say that factory keys do not approve while enrolment is closed', () => {
    const keys = { FLOTILLA_FACTORY_KEYS: '/keys.csv' };
    expect(foundIn(keys)).toEqual([]);
    expect(foundIn({ ...keys, FLOTILLA_ENROLMENT: 'closed' })).toEqual([
      'FLOTILLA_FACTORY_KEYS approves no device while FLOTILLA_ENROLMENT is closed.',
    ]);
  });

  it.each(['FLOTILLA_AUDIT_KEY', 'FLOTILLA_DEVICE_SECRET', 'FLOTILLA_BACKUP_PASSPHRASE'])(
    'say that the line break at the end of %s counts, without the secret',
    (name) => {
      const secret = 'k'.repeat(32);
      expect(foundIn({ [name]: secret })).toEqual([]);
      for (const end of ['\n', '\r\n'])
        expect(foundIn({ [name]: secret + end })).toEqual([`${name} ends with a line break, which is a part of it.`]);
    },
  );
});
