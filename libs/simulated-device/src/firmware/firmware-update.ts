/**
 * Downloads a firmware image into the other slot, for the tool and for the boot. The caller
 * continues from there. [xiaozhi §7.6]
 */
import type { ImageVerdict } from '@flotilla/firmware';
import type { BehaviourScript } from '../behaviour/behaviour-script.js';
import type { LastingBehaviour } from '../behaviour/behaviour.js';
import { OTA_SLOT_BYTES, type DeviceState } from '../device-state.js';
import type { HttpResponse } from '../connection/http-messages.js';
import type { HttpRequests } from '../connection/http-requests.js';
import type { Link } from '../connection/link.js';

/** A fault after the download, decided by the boot loader and the new firmware. */
export type UpdateFault = Extract<LastingBehaviour, { kind: 'upgradeFault' }>;

/** `written`: the device restarts into the image, or into what the fault makes of it. */
type UpdateResult = { readonly kind: 'failed' } | { readonly kind: 'written'; readonly fault: UpdateFault | undefined };

export interface DownloadParts {
  readonly http: HttpRequests;
  readonly script: BehaviourScript;
  readonly state: DeviceState;
  readonly link: Link;
}

export class FirmwareUpdate {
  constructor(private readonly parts: DownloadParts) {}

  /** `then` is never called where the download hangs. */
  fetch(url: string, then: (result: UpdateResult, now: number) => void): void {
    const { http, script, state } = this.parts;
    const fault = script.strike('downloadFault', { board: state.parts.board })?.how;
    const request = {
      method: 'GET',
      url,
      headers: {},
      body: '',
      download: fault === 'breaks' ? 'half' : 'image',
    } as const;
    http.send(request, (response, now) => {
      if (fault !== 'hangs') then(this.#write(response), now);
    });
  }

  /** ESP-IDF's checks and no others: an image for another board with the same chip is taken. */
  #write(response: HttpResponse | undefined): UpdateResult {
    const { state, script, link } = this.parts;
    const image = imageIn(response, state.parts.chip);
    if ('reason' in image) return this.#fail(image.reason);
    const { version, elfSha256 } = image;
    const fault = script.strike('upgradeFault', { board: state.parts.board, version });
    if (fault?.how === 'corrupt') return this.#fail('the image in the flash is not the one that was sent');
    state.firmware.install({ version, elfSha256 });
    link.effect({ kind: 'notice', notice: { kind: 'installed', version } });
    return { kind: 'written', fault };
  }

  #fail(reason: string): UpdateResult {
    this.parts.link.effect({ kind: 'notice', notice: { kind: 'updateFailed', reason } });
    return { kind: 'failed' };
  }
}

function imageIn(
  response: HttpResponse | undefined,
  chip: string,
): Extract<ImageVerdict, { ok: true }>['image'] | { readonly reason: string } {
  if (response === undefined) return { reason: 'no answer, or the connection was lost' };
  const { status, contentLength, image } = response;
  if (status !== 200) return { reason: `HTTP ${status}` };
  if (!contentLength) return { reason: 'the answer has no Content-Length' };
  if (contentLength > OTA_SLOT_BYTES) return { reason: `${contentLength} bytes do not fit into ${OTA_SLOT_BYTES}` };
  if (!image?.ok) return { reason: image?.refusal.code ?? 'nothing was checked' };
  return image.image.chip === chip
    ? image.image
    : { reason: `the image is for ${image.image.chip}, and this is ${chip}` };
}
