/**
 * `POST /vision`: a device asks about a photo. Every request is answered, because the device's main
 * task waits for it. [xiaozhi §6.1]
 */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { deviceIdOf } from '@flotilla/mcp';
import type { DeviceId } from '@flotilla/mcp';
import type { DeviceStore, UploadRow, UploadStore } from '@flotilla/registry';
import type { BlobStore } from '@flotilla/storage';
import { withTimeout } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import type { GatewayLogger } from '../gateway-logger.js';
import type { DeviceGrants } from './device-grants.js';
import type { UploadSlots } from './upload-slots.js';
import type { PictureIntake } from './picture-intake.js';
import type { JsonAnswer } from '../send-json.js';
import type { UploadLimits } from './upload-limits.js';
import { UploadRefusal } from './upload-refusal.js';
import { VisionError } from './vision-answerer.js';
import type { VisionAnswerer } from './vision-answerer.js';

interface VisionEndpointOptions {
  readonly grants: DeviceGrants;
  readonly slots: UploadSlots;
  readonly intake: PictureIntake;
  readonly devices: Pick<DeviceStore, 'sessions'>;
  readonly uploads: Pick<UploadStore, 'setAnswer'>;
  readonly blobs: BlobStore;
  /** Without one, photos are stored and not described. */
  readonly answerer: VisionAnswerer | undefined;
  readonly limits: UploadLimits;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

/** How long PostgreSQL may take to check the session, ms. */
const SESSION_CHECK_MS = 3_000;

export class VisionEndpoint {
  constructor(private readonly options: VisionEndpointOptions) {}

  /** Throws UploadRefusal. */
  async answer(request: IncomingMessage): Promise<JsonAnswer> {
    const { intake, slots } = this.options;
    const deviceId = await this.#deviceOf(request);
    const release = slots.take(deviceId);
    try {
      const upload = await intake.take(request, { kind: 'PHOTO', deviceId });
      return { status: 200, body: await this.#say(upload) };
    } finally {
      release();
    }
  }

  /** The token names a device and its session; both must be current. [xiaozhi §6.1] */
  async #deviceOf({ headers }: IncomingMessage): Promise<DeviceId> {
    const { clock, devices, grants } = this.options;
    const token = /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const grant = token === undefined ? undefined : grants.readVisionToken(token, clock.now());
    const claimed = headers['device-id'];
    if (grant === undefined || typeof claimed !== 'string' || deviceIdOf(claimed) !== grant.deviceId)
      throw unauthenticated();
    const sessions = await withTimeout(devices.sessions([grant.deviceId], 1), SESSION_CHECK_MS, clock).catch(
      (error: unknown) => {
        throw new UploadRefusal(
          'UNAVAILABLE',
          'The hub cannot check now whether this device is connected. Try again.',
          {
            cause: error,
          },
        );
      },
    );
    const session = sessions[0]?.[0];
    if (session?.connectedAt !== grant.connectedAt || session.disconnectedAt !== undefined) throw unauthenticated();
    return grant.deviceId;
  }

  /**
   * The photo is stored even if the question fails. A failure of the model is answered with status
   * 200 and a text for the device.
   */
  async #say(upload: UploadRow): Promise<object> {
    const { answerer, limits, logger, uploads } = this.options;
    if (answerer === undefined) return { success: true, action: 'RESPONSE', response: onlyKept, uploadId: upload.id };
    try {
      const answer = cutToBytes(await this.#ask(answerer, upload), limits.answerBytesMax);
      await uploads
        .setAnswer(upload.id, answer)
        .catch((error: unknown) => logger.warn({ err: error }, 'could not store an answer'));
      return { success: true, action: 'RESPONSE', response: answer, uploadId: upload.id };
    } catch (error) {
      logger.warn({ err: error, deviceId: upload.deviceId, uploadId: upload.id }, 'could not describe a photo');
      const reason = error instanceof VisionError ? error.message : 'The vision model could not be asked.';
      return { success: false, message: `The photo was stored. ${reason}`, uploadId: upload.id };
    }
  }

  async #ask(answerer: VisionAnswerer, { contentType, question, storageKey }: UploadRow): Promise<string> {
    const { blobs, limits } = this.options;
    const signal = AbortSignal.timeout(limits.visionTimeoutMs);
    const blob = await blobs.read(storageKey);
    if (blob === undefined) throw new VisionError('Its file is gone.');
    return answerer.answer({ question: question ?? '', contentType, picture: await buffer(blob.body) }, signal);
  }
}

const onlyKept = 'The photo was stored. No vision model is configured, so it was not described.';

function unauthenticated(): UploadRefusal {
  return new UploadRefusal(
    'UNAUTHENTICATED',
    'This needs the token of the device’s present session, and its Device-Id.',
  );
}

/** Cuts to at most `bytesMax` bytes of JSON text, without splitting a character. */
function cutToBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(JSON.stringify(text)) <= bytesMax) return text;
  const characters = [...text];
  let bytes = 0;
  const end = characters.findIndex(
    (character) => (bytes += Buffer.byteLength(JSON.stringify(character)) - 2) > bytesMax - 8,
  );
  return `${characters.slice(0, end).join('')}…`;
}
