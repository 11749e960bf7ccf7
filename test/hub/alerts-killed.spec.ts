/**
 * Kills the hub at random moments while alerts fire and are resolved. Each alert and each message
 * arrives, and a message comes twice only with the same id. [docs/alerts.md]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { FuzzDice } from '../src/fuzz/fuzz-dice.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { MessageReceivers, type ReceivedMessage } from '../src/hub/message-receivers.js';
import { jobOf, online, steerJob } from '../src/jobs/job-api.js';

const KILLS = process.env['FLOTILLA_TEST_LONG'] === '1' ? 50 : 2;
/** Other kills: `FLOTILLA_TEST_SEED=7 npm test -- test/hub/alerts-killed.spec.ts`. */
const SEED = Number(process.env['FLOTILLA_TEST_SEED'] ?? 1);
/** For each kill, ms: a busy machine needs most of a minute for a start. */
const LIFE_WITHIN_MS = 90_000;
const TOOL = 'self.screen.set_brightness';
const channels = ['webhook', 'mail'];

interface AlertNode {
  readonly id: string;
  readonly state: 'FIRING' | 'RESOLVED';
  readonly summary: string;
}

describe('kill -9 of the hub while alerts fire', () => {
  const receivers = new MessageReceivers();
  const dice = new FuzzDice(SEED);
  const jobs = new Map<string, string>();
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let env: Record<string, string>;
  let deviceIds: readonly string[];

  beforeAll(async () => {
    await receivers.listen();
    env = {
      FLOTILLA_WEBHOOK_URLS: receivers.origin,
      FLOTILLA_LOG_LEVEL: 'warn',
      FLOTILLA_SMTP_URL: receivers.smtpUrl,
      FLOTILLA_SMTP_FROM: 'hub@example.com',
    };
    hub = await startHub({ embedded: true, env });
    env = { ...env, FLOTILLA_HTTP_PORT: String(hub.httpPort), FLOTILLA_MQTT_PORT: String(hub.mqttPort) };
    const behaviour = JSON.stringify({ kind: 'errorWithoutCode', tool: TOOL, chance: 1 });
    fleet = startFleet(hub, { devices: 20, seed: SEED, args: ['--behaviour', behaviour] });
    await online(hub, 20);
    const filter = `filter: { hasTool: "${TOOL}" }`;
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
      hub,
      `{ devices(${filter}) { nodes { id } } }`,
    );
    deviceIds = devices.nodes.slice(0, 3).map(({ id }) => id);
    const url = `${receivers.origin}/webhook`;
    const channelIds = [
      await channel('Webhook', 'WEBHOOK', { url }),
      await channel('Mail', 'EMAIL', { to: ['ops@example.com'] }),
    ];
    // Only the rule of the story sends messages.
    const { alertRules } = await ask<{ alertRules: { id: string }[] }>(hub, '{ alertRules { id } }');
    for (const { id } of alertRules)
      await ask(hub, `mutation { deleteAlertRule(id: "${id}") { userErrors { code } } }`);
    const create = 'mutation ($input: AlertRuleInput!) { createAlertRule(input: $input) { userErrors { message } } }';
    const input = { name: 'Stopped jobs', kind: 'JOB_STOPPED', forSeconds: 0, channelIds };
    expect(await ask(hub, create, { input })).toEqual({ createAlertRule: { userErrors: [] } });
  });
  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    await receivers.close();
    removeDataDir(hub.dataDir);
  });

  async function channel(name: string, kind: string, config: object): Promise<string> {
    const query = `mutation ($input: NotificationChannelInput!) {
      createNotificationChannel(input: $input) { notificationChannel { id } } }`;
    const { createNotificationChannel: made } = await ask<{
      createNotificationChannel: { notificationChannel: { id: string } };
    }>(hub, query, { input: { name, kind, config } });
    return made.notificationChannel.id;
  }

  /** A job that its abort rule stops at the first of its devices, because their tool fails. */
  async function createJob(): Promise<void> {
    const name = `job-${String(jobs.size).padStart(3, '0')}`;
    const abort = [{ outcomes: ['FAILED', 'UNKNOWN'], count: 1, action: 'PAUSE' }];
    const pace = { maxInFlight: 1, maxAttempts: 1 };
    const input = { name, tool: TOOL, arguments: { brightness: 10 }, devices: { ids: deviceIds }, abort, ...pace };
    jobs.set(name, await jobOf(hub, input, name));
  }

  async function alerts(): Promise<readonly AlertNode[]> {
    const query = '{ alerts(first: 200) { nodes { id state summary } } }';
    return (await ask<{ alerts: { nodes: AlertNode[] } }>(hub, query)).alerts.nodes;
  }

  /** Cancels the jobs of alerts that fire, so that these are resolved. */
  async function end(firing: readonly AlertNode[]): Promise<void> {
    for (const { summary } of firing) await steerJob(hub, 'cancelJob', jobs.get(namesIn(summary)[0] ?? '') ?? '');
  }

  async function live(): Promise<void> {
    for (let left = 1 + dice.below(2); left > 0; left -= 1) await createJob();
    const firing = (await alerts()).filter(({ state }) => state === 'FIRING');
    await end(firing.slice(0, dice.below(3)));
    // A round is every two seconds, so most kills come during an evaluation or a delivery.
    await pause(dice.below(2_600));
    await hub.kill();
    hub = await startHub({ embedded: true, env, dataDir: hub.dataDir });
    await online(hub, 20);
  }

  /** Messages of each type about a job that a channel received. */
  const about = (name: string, on: string, isResolved: boolean): readonly ReceivedMessage[] =>
    receivers
      .of(on)
      .filter((message) => isResolvedMessage(message) === isResolved && namesIn(message.text).includes(name));

  const missing = (isResolved: boolean): readonly string[] =>
    channels.flatMap((on) =>
      [...jobs.keys()].filter((name) => about(name, on, isResolved).length === 0).map((name) => `${on}: ${name}`),
    );

  it(
    `loses no message in ${KILLS} kills, and repeats one only with its id (seed ${SEED})`,
    { timeout: 60_000 + KILLS * LIFE_WITHIN_MS },
    async () => {
      for (let kill = 0; kill < KILLS; kill += 1) await live();
      await eventually(
        async () => new Set((await alerts()).flatMap(({ summary }) => namesIn(summary))).size,
        (count) => count === jobs.size,
        60_000,
      );
      await eventually(
        () => missing(false),
        (names) => names.length === 0,
        60_000,
      );
      await end((await alerts()).filter(({ state }) => state === 'FIRING'));
      await eventually(
        () => missing(true),
        (names) => names.length === 0,
        60_000,
      );
      const all = await alerts();
      expect(all.flatMap(({ summary }) => namesIn(summary)).sort()).toEqual([...jobs.keys()].sort());
      expect(all.filter(({ state }) => state !== 'RESOLVED')).toEqual([]);
      for (const on of channels)
        for (const name of jobs.keys())
          for (const isResolved of [false, true]) {
            const ids = new Set(about(name, on, isResolved).map(({ id }) => id));
            expect([...ids], `${on} about ${name}`).toEqual([expect.any(String)]);
          }
      const repeated = channels.map((on) => {
        const ids = receivers.of(on).map(({ id }) => id);
        return ids.length - new Set(ids).size;
      });
      expect(Math.max(...repeated)).toBeLessThanOrEqual(KILLS);
    },
  );
});

function namesIn(text: string): readonly string[] {
  // E-mail breaks long lines.
  return [...new Set(text.replaceAll('=\r\n', '').match(/job-\d{3}/g))];
}

function isResolvedMessage({ channel, text }: ReceivedMessage): boolean {
  if (channel === 'mail') return /^subject: .*resolved/im.test(text);
  return (JSON.parse(text) as { type: string }).type === 'alert.resolved';
}
