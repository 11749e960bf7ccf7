/**
 * Valid settings that have another effect than their owner expects. The hub starts with them,
 * because it always did; the log and the doctor say what to do.
 */
import { changedSettings, readConfig, unknownSettings } from '../settings/config.js';

interface SettingWarning {
  readonly found: string;
  readonly advice: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that do nothing while another one has its default, or not this value. */
const companions: readonly [setting: string, needed: string][] = [
  ['FLOTILLA_VOICE_TOKEN', 'FLOTILLA_VOICE_URL'],
  ['FLOTILLA_VOICE_USER_TOOLS', 'FLOTILLA_VOICE_URL'],
  ['FLOTILLA_OIDC_LABEL', 'FLOTILLA_OIDC_ISSUER'],
  ['FLOTILLA_OIDC_ROLE_CLAIM', 'FLOTILLA_OIDC_ISSUER'],
  ['FLOTILLA_OIDC_ROLES', 'FLOTILLA_OIDC_ISSUER'],
  ['FLOTILLA_OIDC_DEFAULT_ROLE', 'FLOTILLA_OIDC_ISSUER'],
  ['FLOTILLA_APPROVAL_DEVICES', 'FLOTILLA_APPROVALS'],
  ['FLOTILLA_ENROLMENT_CONFIRM', 'FLOTILLA_ENROLMENT=open'],
  ['FLOTILLA_FORWARDING_HEADER', 'FLOTILLA_TRUSTED_PROXIES'],
  ['FLOTILLA_TRACES_SAMPLE', 'FLOTILLA_TRACES_URL'],
];

/**
 * Secrets of which a line break at the end is a part: keys are derived from them, so a hub that
 * runs with one would lose what it signed or encrypted. From all others it is removed.
 */
const exactSecrets = ['FLOTILLA_AUDIT_KEY', 'FLOTILLA_DEVICE_SECRET', 'FLOTILLA_BACKUP_PASSPHRASE'];

/** Warnings about a valid environment. */
export function settingWarnings(environment: Environment): readonly SettingWarning[] {
  return [
    ...unknownSettings(environment).map((name) => ({
      found: `${name} is not a setting of the hub and has no effect.`,
      advice: 'Check its spelling.',
    })),
    ...lineBreakWarnings(environment),
    ...companionWarnings(environment),
    ...contradictionWarnings(environment),
  ];
}

/** Also for backup and restore, which use these secrets. */
export function lineBreakWarnings(environment: Environment): readonly SettingWarning[] {
  return exactSecrets
    .filter((name) => /[\r\n]$/.test(environment[name] ?? ''))
    .map((name) => ({
      found: `${name} ends with a line break, which is a part of it.`,
      advice:
        'Give the same text to all processes and commands of this hub. Without the line break it is another ' +
        'secret, so remove it only on a new hub.',
    }));
}

function companionWarnings(environment: Environment): readonly SettingWarning[] {
  const changed = changedSettings(environment);
  const isMet = (needed: string): boolean => {
    const [name = '', value] = needed.split('=');
    return changed.has(name) && (value === undefined || environment[name] === value);
  };
  return companions
    .filter(([setting, needed]) => changed.has(setting) && !isMet(needed))
    .map(([setting, needed]) => ({
      found: `${setting} has no effect without ${needed}.`,
      advice: `Set ${needed}, too, or remove ${setting}.`,
    }));
}

function contradictionWarnings(environment: Environment): readonly SettingWarning[] {
  const { enrolment, factoryKeysFile, measurementsDays, rollupDays } = readConfig(environment);
  const warnings: SettingWarning[] = [];
  if (measurementsDays > rollupDays)
    warnings.push({
      found:
        `FLOTILLA_MEASUREMENTS_DAYS (${measurementsDays}) is more than FLOTILLA_MEASUREMENTS_ROLLUP_DAYS ` +
        `(${rollupDays}), so charts of long periods end before the points do.`,
      advice: 'Keep roll-ups at least as long as points.',
    });
  if (enrolment === 'closed' && factoryKeysFile !== undefined)
    warnings.push({
      found: 'FLOTILLA_FACTORY_KEYS approves no device while FLOTILLA_ENROLMENT is closed.',
      advice: 'Set FLOTILLA_ENROLMENT=approve, or remove FLOTILLA_FACTORY_KEYS.',
    });
  return warnings;
}
