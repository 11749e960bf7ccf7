/**
 * Kills the hub at random moments while desired states are edited and people turn knobs. Afterwards
 * the states equal the devices, and no device has received a value twice unless the outcome of the
 * first set was lost, or a knob was turned after it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { FuzzDice } from '../src/fuzz/fuzz-dice.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { createDesiredState, editDesiredState, readDesiredState } from '../src/jobs/desired-state-api.js';
import { online } from '../src/jobs/job-api.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const SEED = Number(process.env['FLOTILLA_TEST_SEED'] ?? 1);
const KILLS = isLong ? 50 : 2;
const DEVICES = 30;
/** Devices whose knob is turned before each kill, to values that no edit wants. */
const TURNED = 3;
const TURNED_TO = 90;
const VOLUME = 'self.audio_speaker.set_volume';
const WITHIN_MS = isLong ? 1_800_000 : 240_000;

describe('kill -9 of the hub during edits of a desired state', () => {
  let hub: HubProcess | undefined;
  let fleet: SimulatedFleet | undefined;
  const dataDir = makeDataDir();
  let ports: Readonly<Record<string, string>> = {};

  const start = async (): Promise<HubProcess> => {
    const started = await startHub({ dataDir, embedded: true, env: { FLOTILLA_LOG_LEVEL: 'warn', ...ports } });
    ports = { FLOTILLA_HTTP_PORT: String(started.httpPort), FLOTILLA_MQTT_PORT: String(started.mqttPort) };
    hub = started;
    return started;
  };

  afterEach(async () => {
    await fleet?.stop();
    await hub?.stop();
    removeDataDir(dataDir);
  });

  it(
    `ends in sync after ${KILLS} kills, and repeats only sets whose outcome was lost`,
    { timeout: WITHIN_MS },
    async () => {
      const dice = new FuzzDice(SEED);
      const plan = (volume: number) => ({
        name: 'volume',
        devices: { hasTool: VOLUME },
        tool: VOLUME,
        arguments: { volume },
        maxInFlight: 10,
      });
      let current = await start();
      fleet = startFleet(current, { devices: DEVICES, seed: SEED, args: ['--answer-delay-ms', '20'] });
      await online(current, DEVICES);
      let state = await createDesiredState(current, plan(1), 'killed');
      const killedAt: number[] = [];
      const turnedAt = new Map<string, number[]>();
      const ids = Object.keys(await fleet.levels());
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await pause(dice.below(1_000));
        for (let turn = 0; turn < TURNED; turn += 1) {
          const device = ids[dice.below(ids.length)] ?? '';
          await fleet.perform({ cmd: 'turnKnob', device, knob: 'volume', value: TURNED_TO + dice.below(10) });
          turnedAt.set(device, [...(turnedAt.get(device) ?? []), Date.now()]);
        }
        await pause(dice.below(500));
        killedAt.push(Date.now());
        await current.kill();
        current = await start();
        if (dice.below(2) > 0) await online(current, DEVICES);
        // Each generation has a value that no other has.
        state = await editDesiredState(current, await readDesiredState(current, state.id), plan(1 + kill));
      }
      await online(current, DEVICES);
      const ended = await eventually(
        () => readDesiredState(current, state.id),
        // Just after an edit, the counts are those of the former generation.
        ({ summary }) => summary.t99Seconds !== null && summary.inSync === summary.targeted,
        90_000,
      );
      expect(ended.generation).toBe(KILLS + 1);
      const calls = await fleet.calls();
      const levels = await fleet.levels();
      let covered = 0;
      for (const [device, all] of Object.entries(calls)) {
        const sets = all.filter(({ tool }) => tool === VOLUME);
        if (sets.length === 0) continue;
        covered += 1;
        expect(levels[device]?.volume, device).toBe(1 + KILLS);
        for (const [index, set] of sets.entries()) {
          const repeated = sets.slice(index + 1).find(({ args }) => args['volume'] === set.args['volume']);
          if (repeated === undefined) continue;
          const isLost = killedAt.some((at) => at >= set.at - 1_000 && at <= repeated.at);
          const isTurned = turnedAt.get(device)?.some((at) => at >= set.at - 1_000 && at <= repeated.at) ?? false;
          expect(isLost || isTurned, `${device} received ${String(set.args['volume'])} twice`).toBe(true);
        }
      }
      expect(covered).toBe(ended.summary.targeted);
    },
  );
});
