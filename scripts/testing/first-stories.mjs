/**
 * The stories of `npm test` and `.ci/run`: for each room of `test/`, the ways that users take most,
 * crashes, and the small form of most heavy tests. `npm test -- --all` also runs the others, which
 * takes four times as long.
 */
export const firstStories = [
  'agents/agents',
  'api/api-bad-input',
  'api/refused-mutations',
  'api/webhooks',
  'client/client',
  'console/dashboard',
  'desired-states/desired-states',
  'desired-states/kill-during-edits',
  'devices/call-a-tool',
  'devices/hub-tools',
  'devices/wire-transcript',
  'hub/fuzz',
  'hub/no-credentials-http',
  'hub/no-credentials-mqtt',
  'hub/storm',
  'jobs/bulk-job',
  'jobs/job-steps',
  'jobs/kill-the-hub',
  'jobs/recurring-jobs',
  'jobs/rollout',
  'jobs/rollout-crash',
  'people/sign-in',
  'processes/faults',
  'processes/roles-updates',
  'voice/conversation',
].map((name) => `test/${name}.spec.ts`);
