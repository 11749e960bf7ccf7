/**
 * The camera and the screen over HTTP: uploads byte by byte, downloads, and their answers. [xiaozhi
 * §6]
 */
import type { DeviceState } from '../device-state.js';
import type { HttpRequest, HttpResponse } from '../connection/http-messages.js';
import type { ToolAnswer } from '../calls/tool.js';
import { utf8Bytes } from '../json/utf8.js';

const CAMERA_BOUNDARY = '----ESP32_CAMERA_BOUNDARY';
const SCREEN_BOUNDARY = '----ESP32_SCREEN_SNAPSHOT_BOUNDARY';

/** A JPEG of 16 by 12 pixels, used for every photo and snapshot. */
const PICTURE = bytesOf(
  'ffd8ffdb004300140e0f120f0d14121012171514181e32211e1c1c1e3d2c2e243249404c4b47404645505a736250556d5645' +
    '466488656d777b8182814e608d978c7d96737e817cffdb0043011517171e1a1e3b21213b7c5346537c7c7c7c7c7c7c7c7c7c' +
    '7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7cffc0001108000c001003' +
    '012200021101031101ffc4001500010100000000000000000000000000000004ffc400141001000000000000000000000000' +
    '00000000ffc40014010100000000000000000000000000000003ffc40014110100000000000000000000000000000000ffda' +
    '000c03010002110311003f008c020dffd9',
);

/** Asks the vision service about a photo; its text is the answer. */
export function photoExchange({ identity, visionToken, visionUrl }: DeviceState, question: string): ToolAnswer {
  const headers = {
    'Device-Id': identity.mac,
    'Client-Id': identity.uuid,
    ...(visionToken !== '' && { Authorization: `Bearer ${visionToken}` }),
    ...multipart(CAMERA_BOUNDARY),
  };
  const asked = `--${CAMERA_BOUNDARY}\r\nContent-Disposition: form-data; name="question"\r\n\r\n${question}\r\n`;
  const body = [utf8Bytes(asked), ...fileParts(CAMERA_BOUNDARY, 'camera.jpg')];
  return {
    exchange: { method: 'POST', url: visionUrl, headers, body },
    then: (response) => {
      if (response === undefined) return { error: 'Failed to connect to explain URL' };
      return response.status === 200 ? response.body : { error: 'Failed to upload photo' };
    },
  };
}

export function snapshotExchange(url: string): ToolAnswer {
  const exchange: HttpRequest = {
    method: 'POST',
    url,
    headers: multipart(SCREEN_BOUNDARY),
    body: fileParts(SCREEN_BOUNDARY, 'screenshot.jpg'),
  };
  return { exchange, then: (response) => failureOf(url, response) ?? true };
}

/** The firmware needs the length first, and decodes PNG only. [xiaozhi §6.3] */
export function previewExchange(url: string): ToolAnswer {
  const exchange: HttpRequest = { method: 'GET', url, headers: {}, body: '', download: 'file' };
  return {
    exchange,
    then: (response) => {
      const failure = failureOf(url, response);
      if (failure !== undefined) return failure;
      if (!response?.contentLength) return { error: `Failed to allocate memory for image: ${url}` };
      return response.contentType === 'image/png' ? true : { error: 'Failed to get image info' };
    },
  };
}

function failureOf(url: string, response: HttpResponse | undefined): { readonly error: string } | undefined {
  if (response === undefined) return { error: `Failed to open URL: ${url}` };
  return response.status === 200 ? undefined : { error: `Unexpected status code: ${response.status}` };
}

function multipart(boundary: string): Readonly<Record<string, string>> {
  return { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
}

function fileParts(boundary: string, fileName: string): readonly Uint8Array[] {
  const disposition = `form-data; name="file"; filename="${fileName}"`;
  const head = `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: image/jpeg\r\n\r\n`;
  return [utf8Bytes(head), PICTURE, utf8Bytes(`\r\n--${boundary}--\r\n`)];
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
}
