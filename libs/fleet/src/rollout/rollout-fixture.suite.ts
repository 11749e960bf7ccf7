/** Images without bytes, devices that install, and OTA contacts for the specs of roll-outs. */
import { randomUUID } from 'node:crypto';
import type { CallOutcome, DeviceId, JobId } from '@flotilla/mcp';
import type { FirmwareImageRow, NewFirmwareImage, OtaContact, RolloutLimits, TargetRow } from '@flotilla/registry';
import { admin, boardTools, quickVerification } from '../fleet-fixture.suite.js';
import type { HubProcess } from '../fleet-fixture.suite.js';
import { newId } from '../new-id.js';
import { defaultRolloutLimits } from './rollout-limits.js';
import { RolloutOffers } from './rollout-offers.js';
import type { RolloutOffer } from './rollout-offers.js';
import type { RolloutRequest } from './rollout-request.js';

/** What the hub sees of a device that restarts into something. */
export const gone: CallOutcome = {
  kind: 'UNKNOWN',
  certainty: 'YES',
  error: { code: 'SESSION_CLOSED', message: 'the session ended' },
};

export class RolloutFixture {
  constructor(private readonly hub: HubProcess) {}

  async published(
    version: string,
    models: readonly string[] = ['board'],
    { kind = 'FIRMWARE', ...change }: Partial<NewFirmwareImage> = {},
  ): Promise<FirmwareImageRow> {
    const { firmwareImages } = this.hub.registry;
    const id = newId(this.hub.clock.now());
    const facts = {
      project: 'xiaozhi',
      version,
      chip: 'esp32s3',
      idfVersion: undefined,
      sizeBytes: 1_000,
      elfSha256: undefined,
      ...change,
    };
    const at = {
      uploadedAt: this.hub.clock.now(),
      uploadedBy: 'spec',
      storageKey: `firmware/${id}`,
      fileName: 'x.bin',
      sha256: randomUUID(),
    };
    const { image } = await firmwareImages.add({ id, kind, ...facts, ...at });
    if (models.length > 0) await firmwareImages.publish({ id, models, notes: undefined, at: this.hub.clock.now() });
    return image;
  }

  async started(image: FirmwareImageRow, ids: readonly string[], change: Partial<RolloutRequest> = {}): Promise<JobId> {
    const request = { firmwareImageId: image.id, devices: { ids }, abort: [], ...change };
    const { job, refusal } = await this.hub.fleet.createJob(request, randomUUID(), admin);
    if (job === undefined) throw new TypeError(`Refused: ${refusal?.message}`);
    return job.id;
  }

  async targets(jobId: JobId): Promise<ReadonlyMap<string, TargetRow>> {
    const [page] = await this.hub.registry.jobs.targets([jobId], {}, { first: 500 });
    return new Map(page?.rows.map((row) => [row.deviceId, row]));
  }

  /** What devices do that install what they were sent: away, back with the new firmware. */
  install(versionOf: string | ((deviceId: string) => string)): void {
    const { gateway } = this.hub;
    gateway.behave = ({ deviceId }, settle) => {
      settle(gone);
      const version = typeof versionOf === 'string' ? versionOf : versionOf(deviceId);
      void this.hub.disconnect(deviceId).then(() => this.hub.connect([deviceId], boardTools, version));
    };
  }

  /** Devices that are known and not connected. */
  async away(...ids: readonly string[]): Promise<void> {
    await this.hub.connect(ids);
    for (const id of ids) await this.hub.disconnect(id);
  }

  /** What a device is offered that asks its OTA address. */
  offered(
    id: string,
    change: Partial<OtaContact> = {},
    limits: Partial<RolloutLimits> = {},
  ): Promise<RolloutOffer | undefined> {
    const offers = new RolloutOffers({
      store: this.hub.registry.rollouts,
      bus: this.hub.bus,
      clock: { now: () => change.at ?? this.hub.clock.now() },
      limits: { ...defaultRolloutLimits, ...limits },
      verification: quickVerification,
    });
    return offers.offerTo(this.contactOf(id, change), () => true);
  }

  async cancelled(jobId: JobId): Promise<void> {
    await this.hub.fleet.cancelJob(jobId, true, admin);
    await this.hub.finished(jobId);
  }

  contactOf(id: string, change: Partial<OtaContact> = {}): OtaContact {
    return {
      deviceId: id as DeviceId,
      clientUuid: randomUUID(),
      model: 'board',
      firmwareVersion: '1.0.0',
      remoteAddress: undefined,
      at: this.hub.clock.now(),
      ...change,
    };
  }
}
