/**
 * Reads the settings of the hub from the environment, and reports all wrong values before the
 * start.
 */
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { VerificationTimes } from '@flotilla/jobs';
import { postgresUrlProblem } from '@flotilla/registry';
import { folderProblem } from '@flotilla/storage';
import { z } from 'zod';
import { ConfigError } from '../environment/config-error.js';
import { alertContradictions, alertSettings, alertsOf, type AlertConfig } from './alert-settings.js';
import { approvalSettings, approvalsOf, type ApprovalConfig } from './approval-settings.js';
import { backupSettings } from './backup-settings.js';
import { deviceContradictions, devicesOf, deviceSettings, type DeviceConfig } from './device-settings.js';
import { formerContradictions, formerSettings } from './former-settings.js';
import {
  homeAssistantContradictions,
  homeAssistantOf,
  homeAssistantSettings,
  type HomeAssistantConfig,
} from './home-assistant-settings.js';
import { listenerContradictions, listenersOf, listenerSettings, type ListenerConfig } from './listener-settings.js';
import { metricsContradictions, metricsSettings } from './metrics-settings.js';
import { proxiesOf, proxySettings, type ProxyConfig } from './proxy-settings.js';
import { peopleContradictions, peopleOf, peopleSettings, type PeopleConfig } from './people-settings.js';
import { queryConfigOf, queryContradictions, querySettings, type QueryConfig } from './query-settings.js';
import { redisContradictions, redisOf, redisSettings, type RedisConfig } from './redis-settings.js';
import { secretContradictions, secretSettings } from './secret-settings.js';
import { checked, choice, days, networkList, originList, seconds, unset } from './setting-kinds.js';
import { storageContradictions, storageOf, storageSettings, type StorageConfig } from './storage-settings.js';
import { tracesOf, tracesSettings, type TracesConfig } from './traces-settings.js';
import { verificationContradictions, verificationOf, verificationSettings } from './verification-settings.js';
import { visionContradictions, visionOf, visionSettings, type VisionConfig } from './vision-settings.js';
import { voiceContradictions, voiceOf, voiceSettings, type VoiceConfig } from './voice-settings.js';

const roles = ['gateway', 'api', 'worker'] as const;
export type Role = (typeof roles)[number];

const roleList = z.preprocess(
  unset,
  z
    .string()
    .default(roles.join(','))
    .transform((text, context) => {
      const named = text.split(',').map((name) => name.trim());
      const unknown = named.filter((name) => !roles.some((role) => role === name));
      if (unknown.length > 0)
        context.addIssue({
          code: 'custom',
          message: `knows the roles ${roles.join(', ')}, not "${unknown.join('", "')}"`,
        });
      return roles.filter((role) => named.includes(role));
    }),
);

/** In the working folder. */
const DATA_DIR = './.flotilla';

const environment = z.object({
  FLOTILLA_ROLES: roleList,
  ...listenerSettings,
  FLOTILLA_DRAIN_SECONDS: seconds({ fallbackMs: 60_000, min: 0, max: 3_600 }),
  FLOTILLA_DATA_DIR: checked((folder) => folderProblem(path.resolve(folder))).transform((folder) => folder ?? DATA_DIR),
  ...secretSettings,
  ...proxySettings,
  ...metricsSettings,
  ...tracesSettings,
  ...alertSettings,
  ...peopleSettings,
  ...querySettings,
  ...deviceSettings,
  ...formerSettings,
  ...voiceSettings,
  FLOTILLA_DEVICE_URLS: originList,
  FLOTILLA_WEBHOOK_URLS: originList,
  FLOTILLA_DIAL_NETWORKS: networkList,
  ...verificationSettings,
  ...storageSettings,
  ...backupSettings,
  FLOTILLA_UPLOADS_DAYS: days(30),
  FLOTILLA_RETENTION_DAYS: days(30),
  FLOTILLA_JOBS_DAYS: days(90),
  FLOTILLA_AUDIT_DAYS: days(365),
  FLOTILLA_MEASUREMENTS_DAYS: days(7),
  FLOTILLA_MEASUREMENTS_ROLLUP_DAYS: days(400),
  ...visionSettings,
  ...approvalSettings,
  ...homeAssistantSettings,
  FLOTILLA_LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], 'info'),
  DATABASE_URL: checked(postgresUrlProblem),
  ...redisSettings,
});

/** The settings that a hub process runs with. */
export interface HubConfig extends ApprovalConfig, DeviceConfig, ListenerConfig {
  readonly roles: readonly Role[];
  readonly proxies: ProxyConfig;
  /** With `loopback`, callers on this machine need no key for metrics. */
  readonly metricsAccess: 'key' | 'loopback';
  /** Undefined: no traces are recorded. */
  readonly traces: TracesConfig | undefined;
  /** The longest time between SIGTERM and the stop of the parts, ms; 0: at once. */
  readonly drainMs: number;
  readonly dataDir: string;
  /** False when the default is used. */
  readonly isDataDirGiven: boolean;
  readonly adminKey: string | undefined;
  readonly alerts: AlertConfig;
  readonly people: PeopleConfig;
  readonly queries: QueryConfig;
  /**
   * Key of the audit chain. By default derived from the device secret, or created in the data
   * folder.
   */
  readonly auditKey: string | undefined;
  /** The OTA address of the server that boards asked before; undefined: the hub answers all. */
  readonly otaUpstream: string | undefined;
  readonly voice: VoiceConfig;
  /** Origins from which tools may let a device fetch, or to which they may let it post. */
  readonly deviceUrls: readonly string[];
  /** Origins of webhooks that may be in private networks. */
  readonly webhookUrls: readonly string[];
  /** Networks in which operators may register devices by address. */
  readonly dialNetworks: readonly string[];
  /** Times that devices may take to prove a restart or an upgrade. */
  readonly verification: VerificationTimes;
  readonly storage: StorageConfig;
  /** Encrypts and decrypts backups; undefined: they are not encrypted. */
  readonly backupPassphrase: string | undefined;
  /** Days that uploads are kept. */
  readonly uploadsDays: number;
  /** Days that events, calls, webhook deliveries and resolved alerts are kept. */
  readonly retentionDays: number;
  /** Days that a job is kept after its end. */
  readonly jobsDays: number;
  readonly auditDays: number;
  /** Days that single points of measurements are kept, and their roll-ups with the restarts. */
  readonly measurementsDays: number;
  readonly rollupDays: number;
  readonly vision: VisionConfig | undefined;
  /** Undefined: devices are not published to Home Assistant. */
  readonly homeAssistant: HomeAssistantConfig | undefined;
  readonly logLevel: string;
  /** Undefined: the hub runs an embedded PostgreSQL in the data folder. */
  readonly databaseUrl: string | undefined;
  /** Undefined: bus and queue are in this process and PostgreSQL. */
  readonly redis: RedisConfig | undefined;
}

/** Rules that concern several settings. */
function contradictions(config: HubConfig): string[] {
  const problems: string[] = [];
  if (config.roles.length === 0) problems.push('FLOTILLA_ROLES must name at least one role.');
  if (config.roles.length > 0 && config.roles.length < roles.length && (!config.databaseUrl || !config.redis)) {
    problems.push('FLOTILLA_ROLES splits the hub over processes. Set the same DATABASE_URL and REDIS_URL in all.');
  }
  if (config.redis && !config.databaseUrl)
    problems.push('REDIS_URL connects several processes, which also need a common DATABASE_URL. Set both or none.');
  return problems;
}

/**
 * Reads and checks the environment. Throws a ConfigError with all wrong settings and their rules.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): HubConfig {
  const parsed = environment.safeParse(env);
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`));
  const values = parsed.data;
  const config: HubConfig = {
    roles: values.FLOTILLA_ROLES,
    ...listenersOf(values),
    ...devicesOf(values),
    proxies: proxiesOf(values),
    metricsAccess: values.FLOTILLA_METRICS,
    traces: tracesOf(values),
    drainMs: values.FLOTILLA_DRAIN_SECONDS,
    dataDir: values.FLOTILLA_DATA_DIR,
    isDataDirGiven: Boolean(env['FLOTILLA_DATA_DIR']),
    adminKey: values.FLOTILLA_ADMIN_KEY,
    alerts: alertsOf(values),
    people: peopleOf(values),
    queries: queryConfigOf(values),
    auditKey: values.FLOTILLA_AUDIT_KEY,
    otaUpstream: values.FLOTILLA_OTA_UPSTREAM,
    voice: voiceOf(values),
    deviceUrls: values.FLOTILLA_DEVICE_URLS,
    webhookUrls: values.FLOTILLA_WEBHOOK_URLS,
    dialNetworks: values.FLOTILLA_DIAL_NETWORKS,
    verification: verificationOf(values),
    storage: storageOf(values, values.FLOTILLA_DATA_DIR),
    backupPassphrase: values.FLOTILLA_BACKUP_PASSPHRASE,
    uploadsDays: values.FLOTILLA_UPLOADS_DAYS,
    retentionDays: values.FLOTILLA_RETENTION_DAYS,
    jobsDays: values.FLOTILLA_JOBS_DAYS,
    auditDays: values.FLOTILLA_AUDIT_DAYS,
    measurementsDays: values.FLOTILLA_MEASUREMENTS_DAYS,
    rollupDays: values.FLOTILLA_MEASUREMENTS_ROLLUP_DAYS,
    vision: visionOf(values),
    homeAssistant: homeAssistantOf(values),
    ...approvalsOf(values),
    logLevel: values.FLOTILLA_LOG_LEVEL,
    databaseUrl: values.DATABASE_URL,
    redis: redisOf(values),
  };
  const problems = [
    ...contradictions(config),
    ...secretContradictions(config),
    ...listenerContradictions(config, values),
    ...deviceContradictions(config, values),
    ...formerContradictions(config, values),
    ...verificationContradictions(values),
    ...storageContradictions(values),
    ...visionContradictions(values),
    ...homeAssistantContradictions(values),
    ...voiceContradictions(values),
    ...metricsContradictions(values, config.proxies.trusted),
    ...alertContradictions(values),
    ...peopleContradictions(values),
    ...queryContradictions(values),
    ...redisContradictions(values),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Names of the settings with other values than their defaults, in a valid environment. */
export function changedSettings(env: Readonly<Record<string, string | undefined>>): ReadonlySet<string> {
  const defaults = new Map<string, unknown>(Object.entries(environment.parse({})));
  const changed = Object.entries(environment.parse(env)).filter(
    ([name, value]) => !isDeepStrictEqual(value, defaults.get(name)),
  );
  return new Set(changed.map(([name]) => name));
}

/** Of the command line, which often runs in the same shell. */
const ofCommandLine: readonly string[] = ['FLOTILLA_KEY', 'FLOTILLA_PROFILE', 'FLOTILLA_URL'];

/** Names that begin with FLOTILLA_ and are not a setting, such as misspelt ones. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const isOther = (name: string) => name.startsWith('FLOTILLA_TEST_') || ofCommandLine.includes(name);
  return Object.keys(env).filter(
    (name) => name.startsWith('FLOTILLA_') && !isOther(name) && !(name in environment.shape),
  );
}
