/**
 * A desired state, a recurring job and two firmware images for the demo, created once, when its
 * devices have reported their tools. The operator may change and delete them.
 */
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeAppImage } from '@flotilla/firmware/app-image-maker';
import { actorOfPrincipal } from '@flotilla/fleet';
import type { Actor, DesiredStateRequest, FirmwareImages, Fleet, RecurringJobRequest } from '@flotilla/fleet';
import type { Registry } from '@flotilla/registry';
import type { Logger } from 'pino';

interface DemoFurniture {
  readonly fleet: Pick<Fleet, 'createDesiredState' | 'createRecurringJob' | 'previewDesiredState'>;
  readonly firmware: Pick<FirmwareImages, 'publish' | 'upload'>;
  readonly registry: Pick<Registry, 'apiKeys'>;
  readonly dataDir: string;
  readonly logger: Pick<Logger, 'warn'>;
}

const VOLUME = 'self.audio_speaker.set_volume';
/** The robots run the first version. A roll-out brings the second one, and a revert the first. */
const IMAGES = { model: 'otto-robot', versions: ['2.3.1', '2.4.2'], bytes: 1_000_000 };
const BRIGHTNESS = 'self.screen.set_brightness';
/** In the data folder; with it, what the operator deleted is not created again. */
const MARK = 'demo.created';
/** Ms between two looks for devices, and looks at most: devices enrol within seconds. */
const LOOK_MS = 2_000;
const LOOKS_MAX = 150;

const desired: DesiredStateRequest = {
  name: 'Demo: quiet speakers',
  tool: VOLUME,
  arguments: { volume: 40 },
  devices: { tags: ['demo'] },
  mode: 'ENFORCE',
  onDrift: 'HOLD',
  holdSeconds: 120,
  priority: 0,
  window: undefined,
  waves: undefined,
  abort: undefined,
  maxInFlight: 10,
  perMinute: undefined,
  enabled: true,
};
const recurring: RecurringJobRequest = {
  name: 'Demo: bright screens in the morning',
  cron: '0 7 * * MON-FRI',
  timeZone: 'UTC',
  job: { tool: BRIGHTNESS, arguments: { brightness: 80 }, devices: { tags: ['demo'], hasTool: BRIGHTNESS } },
  missed: 'SKIP',
  overlap: 'SKIP',
  until: undefined,
  enabled: true,
};

/** Returns a function that ends the looks for devices. */
export function furnishDemo(parts: DemoFurniture): () => void {
  const mark = path.join(parts.dataDir, MARK);
  if (existsSync(mark)) return () => undefined;
  let looks = 0;
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const look = async () => {
    const actor = await administrator(parts.registry);
    const isDone = actor === undefined || (await create(parts, actor));
    if (isDone) writeFileSync(mark, '');
    else if (++looks < LOOKS_MAX && !isEnded) timer = setTimeout(again, LOOK_MS);
  };
  const again = () =>
    void look().catch((error: unknown) =>
      parts.logger.warn({ err: error }, 'the content of the demo could not be created'),
    );
  again();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

/** False while no device has reported the tool. */
async function create({ firmware, fleet, logger }: DemoFurniture, actor: Actor): Promise<boolean> {
  const { refusal, targetCount } = await fleet.previewDesiredState(desired, actor);
  if (refusal !== undefined || targetCount === 0) return false;
  await fleet.createDesiredState(desired, 'demo', actor);
  await fleet.createRecurringJob(recurring, 'demo', actor);
  // Without it the rest of the demo is complete, as where only signed images are published.
  await addImages(firmware, actor).catch((error: unknown) =>
    logger.warn({ err: error }, 'the firmware images of the demo could not be added'),
  );
  return true;
}

async function addImages(firmware: DemoFurniture['firmware'], actor: Actor): Promise<void> {
  const { model, versions, bytes } = IMAGES;
  for (const version of versions) {
    const file = makeAppImage({ version, dataBytes: bytes, hash: createHash('sha256') });
    const fileName = `demo-${version}.bin`;
    const kept = await firmware.upload(
      { kind: 'FIRMWARE', fileName, version: undefined, body: inOnePart(file) },
      actor,
    );
    if ('refusal' in kept) throw new Error(kept.refusal.message);
    const published = await firmware.publish(kept.image.id, { models: [model], notes: 'Demo image' }, actor);
    if ('refusal' in published) throw new Error(published.refusal.message);
  }
}

async function* inOnePart(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(file);
}

/** The first admin key, whose rights the demo has. */
async function administrator({ apiKeys }: DemoFurniture['registry']): Promise<Actor | undefined> {
  const key = (await apiKeys.all()).find(
    ({ scopes, revokedAt }) => scopes.includes('ADMIN') && revokedAt === undefined,
  );
  if (key === undefined) return undefined;
  const { id, name, scopes, devices, ownerId } = key;
  return actorOfPrincipal({ kind: 'KEY', id, name, scopes, devices, owner: ownerId });
}
