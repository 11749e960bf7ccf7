/**
 * Tokens with which a device may send photos while its present session lives, send one snapshot, or
 * fetch one picture. They are the only proof, because snapshots and previews have no header that
 * identifies the device. [xiaozhi §6]
 */
import type { DeviceId } from '@flotilla/mcp';
import type { UrlSigner } from '../device-urls/url-signer.js';

/** The right to ask about photos: a device in the session that began at this time, ms. */
interface VisionGrant {
  readonly deviceId: DeviceId;
  readonly connectedAt: number;
}

interface SnapshotGrant {
  readonly deviceId: DeviceId;
  readonly ticketId: string;
}

/**
 * A vision token ends with its session, which may last for months on MQTT; this limit is only
 * longer than any session.
 */
const VISION_LIFE_MS = 10 * 365 * 86_400_000;
const VISION_PATH = '/t/vision/';

export class DeviceGrants {
  constructor(private readonly signer: UrlSigner) {}

  visionToken({ deviceId, connectedAt }: VisionGrant): string {
    const id = joined(connectedAt.toString(36), deviceId);
    return this.signer
      .pathOf({ purpose: 'vision', id, expiresAt: connectedAt + VISION_LIFE_MS })
      .slice(VISION_PATH.length);
  }

  readVisionToken(token: string, now: number): VisionGrant | undefined {
    const verdict = this.signer.judge('vision', VISION_PATH + token, now);
    if (verdict.kind !== 'valid') return undefined;
    const [at, deviceId] = parted(verdict.id);
    return { connectedAt: Number.parseInt(at, 36), deviceId };
  }

  snapshotPath({ deviceId, ticketId }: SnapshotGrant, expiresAt: number): string {
    return this.signer.pathOf({ purpose: 'snapshot', id: joined(ticketId, deviceId), expiresAt });
  }

  readSnapshotPath(path: string, now: number): SnapshotGrant | undefined {
    const verdict = this.signer.judge('snapshot', path, now);
    if (verdict.kind !== 'valid') return undefined;
    const [ticketId, deviceId] = parted(verdict.id);
    return { ticketId, deviceId };
  }

  previewPath(uploadId: string, expiresAt: number): string {
    return this.signer.pathOf({ purpose: 'preview', id: uploadId, expiresAt });
  }

  /** The upload's id. */
  readPreviewPath(path: string, now: number): string | undefined {
    const verdict = this.signer.judge('preview', path, now);
    return verdict.kind === 'valid' ? verdict.id : undefined;
  }
}

/** Device ids contain characters that are invalid in tokens. */
function joined(what: string, deviceId: DeviceId): string {
  return `${what}_${Buffer.from(deviceId).toString('base64url')}`;
}

/** Reverses `joined`; the signature guarantees the format. */
function parted(id: string): readonly [string, DeviceId] {
  const end = id.indexOf('_');
  return [id.slice(0, end), Buffer.from(id.slice(end + 1), 'base64url').toString() as DeviceId];
}
