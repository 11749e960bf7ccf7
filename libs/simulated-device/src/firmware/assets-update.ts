/**
 * Downloads an assets image at boot from the address that a call has set. Tried once. [xiaozhi
 * §5.2, §6.4]
 */
import { ASSETS_BYTES } from '../device-state.js';
import type { HttpResponse } from '../connection/http-messages.js';
import type { DownloadParts } from './firmware-update.js';

export class AssetsUpdate {
  constructor(private readonly parts: DownloadParts) {}

  /** `then` is never called where the download hangs. */
  fetch(url: string, then: (isLoaded: boolean, now: number) => void): void {
    const { http, link, script, state } = this.parts;
    const fault = script.strike('downloadFault', { board: state.parts.board })?.how;
    const request = {
      method: 'GET',
      url,
      headers: {},
      body: '',
      download: fault === 'breaks' ? 'half' : 'assets',
    } as const;
    http.send(request, (response, now) => {
      if (fault === 'hangs') return;
      const reason = refusalOf(response);
      const bytes = response?.contentLength ?? 0;
      link.effect({
        kind: 'notice',
        notice:
          reason === undefined
            ? { kind: 'assetsLoaded', bytes }
            : { kind: 'updateFailed', reason: `assets: ${reason}` },
      });
      then(reason === undefined, now);
    });
  }
}

function refusalOf(response: HttpResponse | undefined): string | undefined {
  if (response === undefined) return 'no answer, or the connection was lost';
  const { assets, contentLength, status } = response;
  if (status !== 200) return `HTTP ${status}`;
  if (!contentLength) return 'the answer has no Content-Length';
  if (contentLength > ASSETS_BYTES) return `${contentLength} bytes do not fit into ${ASSETS_BYTES}`;
  if (assets === undefined) return 'nothing was checked';
  return assets.ok ? undefined : assets.reason;
}
