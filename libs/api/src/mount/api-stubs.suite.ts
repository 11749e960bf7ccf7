/** Doubles of hub parts that specs of the mounted API do not use, and an observed registry. */
import type { Registry } from '@flotilla/registry';
import type { ApiLogger } from '../api-logger.js';
import type { FleetOperations, PictureFiles, ScreenOperations } from '../fleet-operations.js';

/** The same registry, which records each call of a store. */
export function observed(registry: Registry, lookups: string[]): Registry {
  const watch = <Store extends object>(name: string, store: Store): Store =>
    new Proxy(store, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          lookups.push(`${name}.${String(member)}`);
          return Reflect.apply(value, target, args);
        };
      },
    });
  const watched: Registry = {
    devices: watch('devices', registry.devices),
    fleetFigures: registry.fleetFigures,
    deviceGroups: watch('deviceGroups', registry.deviceGroups),
    toolSets: watch('toolSets', registry.toolSets),
    dials: registry.dials,
    events: watch('events', registry.events),
    calls: watch('calls', registry.calls),
    jobs: watch('jobs', registry.jobs),
    jobCommands: registry.jobCommands,
    targetPreparation: registry.targetPreparation,
    targetQueue: registry.targetQueue,
    targetVerification: registry.targetVerification,
    desiredStates: watch('desiredStates', registry.desiredStates),
    desiredStateStore: registry.desiredStateStore,
    desiredStateQueue: registry.desiredStateQueue,
    measurements: watch('measurements', registry.measurements),
    recordingRules: watch('recordingRules', registry.recordingRules),
    restarts: watch('restarts', registry.restarts),
    recurringJobs: watch('recurringJobs', registry.recurringJobs),
    appliedConfigurations: watch('appliedConfigurations', registry.appliedConfigurations),
    uploads: watch('uploads', registry.uploads),
    toolPolicies: watch('toolPolicies', registry.toolPolicies),
    apiKeys: registry.apiKeys,
    agentGrants: registry.agentGrants,
    oauth: registry.oauth,
    users: watch('users', registry.users),
    userSessions: registry.userSessions,
    signInFailures: registry.signInFailures,
    credentials: watch('credentials', registry.credentials),
    enrolments: watch('enrolments', registry.enrolments),
    movingBoards: watch('movingBoards', registry.movingBoards),
    audit: watch('audit', registry.audit),
    firmwareImages: watch('firmwareImages', registry.firmwareImages),
    signingKeys: registry.signingKeys,
    disruptiveCalls: registry.disruptiveCalls,
    downloads: watch('downloads', registry.downloads),
    rollouts: watch('rollouts', registry.rollouts),
    webhooks: watch('webhooks', registry.webhooks),
    alertRules: watch('alertRules', registry.alertRules),
    alerts: watch('alerts', registry.alerts),
    alertEvaluation: registry.alertEvaluation,
    notificationChannels: watch('notificationChannels', registry.notificationChannels),
    notificationOutbox: registry.notificationOutbox,
    voiceServers: watch('voiceServers', registry.voiceServers),
    viewFor: (viewer) => (viewer.devices === undefined ? watched : registry.viewFor(viewer)),
    takeLease: () => registry.takeLease(),
    sweepDeadProcesses: () => registry.sweepDeadProcesses(),
    livingProcesses: () => registry.livingProcesses(),
    successorRoles: () => registry.successorRoles(),
    isEldest: (role) => registry.isEldest(role),
    gatewayPlaces: () => registry.gatewayPlaces(),
    processWriters: () => registry.processWriters(),
    hubSecret: (name) => registry.hubSecret(name),
    makePartitions: (now) => registry.makePartitions(now),
    earlierNow: (now) => registry.earlierNow(now),
    removeOld: (kept, now) => registry.removeOld(kept, now),
    ping: () => registry.ping(),
    writers: () => registry.writers(),
    close: () => registry.close(),
  };
  return watched;
}

const refused = {
  refusal: { code: 'DEVICE_OFFLINE', message: 'No device is connected in this spec.', path: ['input', 'deviceId'] },
} as const;
export const refusingScreens: ScreenOperations = { takeSnapshot: async () => refused, showImage: async () => refused };
export const noPictures: PictureFiles = {
  take: async () => ({ status: 503, code: 'UNAVAILABLE', message: 'Nothing is kept in this spec.' }),
  read: async () => undefined,
};
export const refusingFleet: FleetOperations = {
  callTool: async () => refused,
  chooseVoiceServers: async () => refused,
  createJob: async () => refused,
  earlierJob: async () => undefined,
  pauseJob: async () => refused,
  resumeJob: async () => refused,
  cancelJob: async () => refused,
  openNextWave: async () => refused,
  revertJob: async () => refused,
  refreshTools: async () => refused,
  openSessionLog: async () => refused,
  rerunJob: async () => refused,
  previewJob: () => Promise.reject(new TypeError('No job is previewed in this spec.')),
  approveJob: async () => refused,
  denyJob: async () => refused,
  scopeToApprove: async () => undefined,
  scopeToCall: async () => undefined,
  scopeToRollOut: () => undefined,
  createApiKey: async () => refused,
  revokeApiKey: async () => refused,
  createDeviceGroup: async () => refused,
  updateDeviceGroup: async () => refused,
  deleteDeviceGroup: async () => refused,
  createDesiredState: async () => refused,
  updateDesiredState: async () => refused,
  setDesiredStateEnabled: async () => refused,
  deleteDesiredState: async () => refused,
  previewDesiredState: async () => ({
    targetCount: 0,
    inSyncCount: 0,
    changeCount: 0,
    unsupportedCount: 0,
    unknownCount: 0,
    conflicts: [],
    sample: [],
    ...refused,
  }),
  setRecordingRule: async () => refused,
  deleteRecordingRule: async () => refused,
  createRecurringJob: async () => refused,
  updateRecurringJob: async () => refused,
  deleteRecurringJob: async () => refused,
  runRecurringJob: async () => refused,
  previewRecurringJob: async () => refused,
  recordApplied: async () => ({ rows: [], ...refused }),
  setToolPolicy: async () => refused,
  deleteToolPolicy: async () => refused,
};

export function silentLogger(failures: unknown[]): ApiLogger & { info(fields: object, message: string): void } {
  const ignore = (): void => undefined;
  return { error: (fields) => failures.push(fields), warn: ignore, info: ignore, debug: ignore };
}
