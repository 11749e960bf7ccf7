/** The hub's settings, read from the environment once and checked as a whole: every wrong value is named with its rule before anything starts. */
import {
  defaultDownloadLimits,
  defaultGatewayLimits,
  defaultPublishTopic,
  MQTT_TLS_PORT,
  publicMqttProblem,
  publicUrlProblem,
} from '@flotilla/gateway';
import type { EnrolmentMode } from '@flotilla/gateway';
import type { VerificationTimes } from '@flotilla/jobs';
import { isTimeZone } from '@flotilla/mcp';
import { z } from 'zod';
import { approvalSettings, approvalsOf, type ApprovalConfig } from './approval-settings.js';
import { metricsContradictions, metricsSettings } from './metrics-settings.js';
import { proxiesOf, proxySettings, type ProxyConfig } from './proxy-settings.js';
import { peopleContradictions, peopleOf, peopleSettings, type PeopleConfig } from './people-settings.js';
import { queryConfigOf, queryContradictions, querySettings, type QueryConfig } from './query-settings.js';
import { redisContradictions, redisOf, redisSettings, type RedisConfig } from './redis-settings.js';
import { secretContradictions, secretSettings } from './secret-settings.js';
import {
  days,
  judged,
  loopback,
  networkList,
  optionalText,
  optionalUrl,
  originList,
  port,
  portOrOff,
  unset,
} from './setting-kinds.js';
import { storageContradictions, storageOf, storageSettings, type StorageConfig } from './storage-settings.js';
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

const environment = z.object({
  FLOTILLA_ROLES: roleList,
  FLOTILLA_HOST: z.preprocess(unset, z.string().default('127.0.0.1')),
  FLOTILLA_HTTP_PORT: port(8080),
  FLOTILLA_MQTT_PORT: portOrOff(1883),
  FLOTILLA_MQTTS_PORT: port(8883),
  FLOTILLA_UDP_PORT: port(8884),
  FLOTILLA_PUBLIC_HOST: z.preprocess(
    unset,
    z
      .string()
      .regex(/^[A-Za-z0-9.-]+$/, 'must be a host name or an IPv4 address, without port')
      .optional(),
  ),
  FLOTILLA_PUBLIC_URL: judged(publicUrlProblem),
  FLOTILLA_PUBLIC_MQTT: judged(publicMqttProblem),
  FLOTILLA_PUBLISH_TOPIC: z.preprocess(
    unset,
    z
      .string()
      .regex(
        /^[\w./-]{1,128}$/,
        'must be a topic of 1 to 128 letters, digits, dots, dashes and slashes, without wildcards',
      )
      .default(defaultPublishTopic),
  ),
  FLOTILLA_TLS_CERT: optionalText,
  FLOTILLA_TLS_KEY: optionalText,
  FLOTILLA_DATA_DIR: z.preprocess(unset, z.string().default('./.flotilla')),
  FLOTILLA_ADMIN_KEY: z.preprocess(unset, z.string().min(32, 'must have at least 32 characters').optional()),
  ...secretSettings,
  ...proxySettings,
  ...metricsSettings,
  ...peopleSettings,
  ...querySettings,
  FLOTILLA_DEVICE_AUTH: z.preprocess(
    unset,
    z.enum(['credentials', 'hmac', 'open'], 'must be credentials, hmac or open').default('credentials'),
  ),
  FLOTILLA_DEVICE_SECRET: z.preprocess(unset, z.string().min(16, 'must have at least 16 characters').optional()),
  FLOTILLA_ENROLMENT: z.preprocess(
    unset,
    z.enum(['approve', 'open', 'closed'], 'must be approve, open or closed').default('approve'),
  ),
  FLOTILLA_ENROLMENT_CONFIRM: optionalText,
  FLOTILLA_FACTORY_KEYS: optionalText,
  FLOTILLA_DEVICE_TIMEZONE: judged((zone) =>
    isTimeZone(zone) ? undefined : 'must be a name of the tz database, such as Europe/Berlin',
  ),
  FLOTILLA_RECONNECTS_MAX: z.preprocess(
    unset,
    z
      .string()
      .default(String(defaultGatewayLimits.reconnectsMax))
      .refine((text) => /^\d{1,4}$/.test(text), 'must be a number of connects from 1 to 9999, or 0 for no bound')
      .transform(Number),
  ),
  FLOTILLA_DOWNLOADS_MAX: z.preprocess(
    unset,
    z
      .string()
      .default(String(defaultDownloadLimits.downloadsMax))
      .refine((text) => /^[1-9]\d{0,3}$/.test(text), 'must be a number of downloads from 1 to 9999')
      .transform(Number),
  ),
  FLOTILLA_STATUS_INTERVAL_SECONDS: z.preprocess(
    unset,
    z
      .string()
      .default(String(defaultGatewayLimits.statusIntervalSeconds))
      .refine((text) => /^0$|^[1-9]\d{1,4}$/.test(text), 'must be a number of seconds from 10 to 99999, or 0 for never')
      .transform(Number),
  ),
  FLOTILLA_VOICELESS_SECONDS: z.preprocess(
    unset,
    z
      .string()
      .default(String(defaultGatewayLimits.voicelessIdleMs / 1000))
      .refine(
        (text) => /^\d{1,5}$/.test(text),
        'must be a number of seconds from 1 to 99999, or 0 to leave conversations to the device',
      )
      .transform((text) => Number(text) * 1000),
  ),
  ...voiceSettings,
  FLOTILLA_DEVICE_URLS: originList,
  FLOTILLA_WEBHOOK_URLS: originList,
  FLOTILLA_DIAL_NETWORKS: networkList,
  ...verificationSettings,
  ...storageSettings,
  FLOTILLA_UPLOADS_DAYS: days(30),
  FLOTILLA_RETENTION_DAYS: days(30),
  FLOTILLA_JOBS_DAYS: days(90),
  FLOTILLA_AUDIT_DAYS: days(365),
  ...visionSettings,
  ...approvalSettings,
  FLOTILLA_LOG_LEVEL: z.preprocess(
    unset,
    z
      .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], 'must be fatal, error, warn, info, debug or silent')
      .default('info'),
  ),
  DATABASE_URL: optionalUrl(['postgres:', 'postgresql:']),
  ...redisSettings,
});

/** The settings that a hub process runs with. */
export interface HubConfig extends ApprovalConfig {
  readonly roles: readonly Role[];
  /** Address that every listener binds. */
  readonly host: string;
  readonly httpPort: number;
  /** Undefined: no plain MQTT over TCP. */
  readonly mqttPort: number | undefined;
  /** MQTT over TLS, where there is a certificate. */
  readonly mqttsPort: number;
  readonly udpPort: number;
  /** Host that devices are told for audio; the local address of their own connection where not given. */
  readonly publicHost: string | undefined;
  /** What devices are told instead of the address that they reached. */
  readonly publicUrl: string | undefined;
  readonly publicMqtt: string | undefined;
  /** The topic that MQTT devices publish to. */
  readonly publishTopic: string;
  /** Files in PEM; with them HTTP is HTTPS, and MQTT is there over TLS as well. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly proxies: ProxyConfig;
  /** loopback: callers on this machine read metrics without a key. */
  readonly metricsAccess: 'key' | 'loopback';
  readonly dataDir: string;
  /** Not only the default. */
  readonly isDataDirGiven: boolean;
  readonly adminKey: string | undefined;
  readonly people: PeopleConfig;
  readonly queries: QueryConfig;
  readonly deviceAuth: 'credentials' | 'hmac' | 'open';
  readonly enrolment: EnrolmentMode;
  /** File of `serial,key` lines of chips that prove themselves. */
  readonly factoryKeysFile: string | undefined;
  /** Zone of devices that have none of their own; the host's where not given. */
  readonly deviceTimeZone: string | undefined;
  readonly deviceSecret: string | undefined;
  /** Of the audit chain; absent: it follows from the device secret, or is made in the data folder. */
  readonly auditKey: string | undefined;
  /** Connects of one device in a row until it has to wait; 0 for no bound. */
  readonly reconnectsMax: number;
  /** Firmware downloads that run at once. */
  readonly downloadsMax: number;
  readonly statusIntervalSeconds: number;
  /** Milliseconds after which an idle WebSocket conversation ends where there is no voice service; 0: never. */
  readonly voicelessIdleMs: number;
  readonly voice: VoiceConfig;
  /** Origins that tools may make a device fetch from or post to. */
  readonly deviceUrls: readonly string[];
  /** Origins of webhooks that may be anywhere, private networks included. */
  readonly webhookUrls: readonly string[];
  /** Networks in which whoever may register devices may have them dialled. */
  readonly dialNetworks: readonly string[];
  /** How long devices may take to show that a restart or an upgrade has happened. */
  readonly verification: VerificationTimes;
  readonly storage: StorageConfig;
  /** Uploads are removed when they are older. */
  readonly uploadsDays: number;
  /** Events, calls and deliveries of webhooks. */
  readonly retentionDays: number;
  /** From a job's end. */
  readonly jobsDays: number;
  readonly auditDays: number;
  readonly vision: VisionConfig | undefined;
  readonly logLevel: string;
  /** Absent: the hub runs its own PostgreSQL in the data folder. */
  readonly databaseUrl: string | undefined;
  /** Absent: bus and queue live in this process and its PostgreSQL. */
  readonly redis: RedisConfig | undefined;
}

/** Every problem of the environment at once, one line each. */
export class ConfigError extends Error {
  readonly code = 'CONFIG_INVALID';

  constructor(readonly problems: readonly string[]) {
    super(`The hub's settings are not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Rules between settings. */
function contradictions(config: HubConfig): string[] {
  const problems: string[] = [];
  if (config.deviceAuth === 'open' && !loopback.test(config.host)) {
    problems.push(
      `FLOTILLA_DEVICE_AUTH=open lets anybody in and is refused unless FLOTILLA_HOST is a loopback address; it is ${config.host}.`,
    );
  }
  if (config.roles.length === 0) problems.push('FLOTILLA_ROLES must name at least one role.');
  if (config.roles.length > 0 && config.roles.length < roles.length && (!config.databaseUrl || !config.redis)) {
    problems.push(
      'FLOTILLA_ROLES splits the hub over processes, which then need DATABASE_URL and REDIS_URL in common.',
    );
  }
  if (config.redis && !config.databaseUrl)
    problems.push('REDIS_URL is for several processes, which also need one DATABASE_URL.');
  return problems;
}

/** Rules of how devices come in: the firmware decides TLS by the port alone. */
function doorContradictions(config: HubConfig, values: z.infer<typeof environment>): string[] {
  const problems: string[] = [];
  if (config.mqttPort === MQTT_TLS_PORT)
    problems.push(
      `FLOTILLA_MQTT_PORT may not be ${MQTT_TLS_PORT}: it is for plain MQTT, and devices speak TLS on exactly that port.`,
    );
  if (config.mqttsPort !== MQTT_TLS_PORT && config.mqttsPort !== 0)
    problems.push(
      `FLOTILLA_MQTTS_PORT must be ${MQTT_TLS_PORT}, because devices speak TLS on exactly that port, or 0 where it is forwarded from there.`,
    );
  if (config.mqttPort === undefined && config.publicMqtt !== undefined && !leadsToMqtts(config))
    problems.push(
      `FLOTILLA_PUBLIC_MQTT=${config.publicMqtt} leads to plain MQTT, which FLOTILLA_MQTT_PORT=off closes: leave it out, or give a certificate and port ${MQTT_TLS_PORT}.`,
    );
  if ((values.FLOTILLA_TLS_CERT === undefined) !== (values.FLOTILLA_TLS_KEY === undefined))
    problems.push('FLOTILLA_TLS_CERT and FLOTILLA_TLS_KEY belong together: give both or none.');
  if (config.enrolment === 'open' && !loopback.test(config.host) && values.FLOTILLA_ENROLMENT_CONFIRM !== CONFIRMATION)
    problems.push(
      `FLOTILLA_ENROLMENT=open lets in every device that asks and is refused unless FLOTILLA_HOST is a loopback address or FLOTILLA_ENROLMENT_CONFIRM=${CONFIRMATION}.`,
    );
  return problems;
}

/** Without a port devices take that of TLS. */
function leadsToMqtts({ publicMqtt = '', tls }: HubConfig): boolean {
  return tls !== undefined && [undefined, String(MQTT_TLS_PORT)].includes(publicMqtt.split(':')[1]);
}

/** What whoever opens enrolment to a network has to write out. */
const CONFIRMATION = 'open-to-anybody';

/** Reads and checks the environment. Throws a ConfigError that names every wrong setting and its rule. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): HubConfig {
  const parsed = environment.safeParse(env);
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`));
  const values = parsed.data;
  const { FLOTILLA_TLS_CERT: certFile, FLOTILLA_TLS_KEY: keyFile } = values;
  const config: HubConfig = {
    roles: values.FLOTILLA_ROLES,
    host: values.FLOTILLA_HOST,
    httpPort: values.FLOTILLA_HTTP_PORT,
    mqttPort: values.FLOTILLA_MQTT_PORT,
    mqttsPort: values.FLOTILLA_MQTTS_PORT,
    udpPort: values.FLOTILLA_UDP_PORT,
    publicHost: values.FLOTILLA_PUBLIC_HOST,
    publicUrl: values.FLOTILLA_PUBLIC_URL,
    publicMqtt: values.FLOTILLA_PUBLIC_MQTT,
    publishTopic: values.FLOTILLA_PUBLISH_TOPIC,
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined,
    proxies: proxiesOf(values),
    metricsAccess: values.FLOTILLA_METRICS,
    dataDir: values.FLOTILLA_DATA_DIR,
    isDataDirGiven: Boolean(env['FLOTILLA_DATA_DIR']),
    adminKey: values.FLOTILLA_ADMIN_KEY,
    people: peopleOf(values),
    queries: queryConfigOf(values),
    deviceAuth: values.FLOTILLA_DEVICE_AUTH,
    enrolment: values.FLOTILLA_ENROLMENT,
    factoryKeysFile: values.FLOTILLA_FACTORY_KEYS,
    deviceTimeZone: values.FLOTILLA_DEVICE_TIMEZONE,
    deviceSecret: values.FLOTILLA_DEVICE_SECRET,
    auditKey: values.FLOTILLA_AUDIT_KEY,
    reconnectsMax: values.FLOTILLA_RECONNECTS_MAX,
    downloadsMax: values.FLOTILLA_DOWNLOADS_MAX,
    statusIntervalSeconds: values.FLOTILLA_STATUS_INTERVAL_SECONDS,
    voicelessIdleMs: values.FLOTILLA_VOICELESS_SECONDS,
    voice: voiceOf(values),
    deviceUrls: values.FLOTILLA_DEVICE_URLS,
    webhookUrls: values.FLOTILLA_WEBHOOK_URLS,
    dialNetworks: values.FLOTILLA_DIAL_NETWORKS,
    verification: verificationOf(values),
    storage: storageOf(values, values.FLOTILLA_DATA_DIR),
    uploadsDays: values.FLOTILLA_UPLOADS_DAYS,
    retentionDays: values.FLOTILLA_RETENTION_DAYS,
    jobsDays: values.FLOTILLA_JOBS_DAYS,
    auditDays: values.FLOTILLA_AUDIT_DAYS,
    vision: visionOf(values),
    ...approvalsOf(values),
    logLevel: values.FLOTILLA_LOG_LEVEL,
    databaseUrl: values.DATABASE_URL,
    redis: redisOf(values),
  };
  const problems = [
    ...contradictions(config),
    ...secretContradictions(config),
    ...doorContradictions(config, values),
    ...verificationContradictions(values),
    ...storageContradictions(values),
    ...visionContradictions(values),
    ...voiceContradictions(values),
    ...metricsContradictions(values, config.proxies.trusted),
    ...peopleContradictions(values),
    ...queryContradictions(values),
    ...redisContradictions(values),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Settings of ours that nobody reads: a misspelt one would otherwise be silently without effect. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith('FLOTILLA_') && !name.startsWith('FLOTILLA_TEST_') && !(name in environment.shape),
  );
}
