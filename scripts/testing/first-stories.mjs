/**
 * The stories of `npm test`: for each room of `test/`, the ways that users take most, and a crash.
 * `npm test -- --all` also runs the others, as `.ci/run` does; it takes over four times as long.
 */
export const firstStories = [
  'agents/agents',
  'agents/agents-over-stdio',
  'api/api-bad-input',
  'api/refused-mutations',
  'api/webhooks',
  'client/client',
  'client/command-line-login',
  'console/dashboard',
  'desired-states/desired-states',
  'devices/call-a-tool',
  'devices/hub-tools',
  'devices/uploads',
  'devices/websocket-lifetime',
  'devices/wire-transcript',
  'hub/no-credentials-http',
  'hub/no-credentials-mqtt',
  'jobs/bulk-job',
  'jobs/job-steps',
  'jobs/recurring-jobs',
  'jobs/rollout',
  'jobs/rollout-crash',
  'people/sign-in',
  'people/users',
  'processes/roles-updates',
  'processes/session-log',
  'voice/conversation',
].map((name) => `test/${name}.spec.ts`);
