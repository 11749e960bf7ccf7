/**
 * Reads an OTA answer as the firmware does. Transport settings go to flash at once; absent members
 * keep the stored value; some values crash the firmware. [xiaozhi §7.3]
 */
import { compareVersions } from '@flotilla/firmware';
import { toInt32 } from '../calls/check-arguments.js';
import { FirmwareObject, readFirmwareJson } from '../json/firmware-json.js';
import { leadingInteger } from './leading-integer.js';
import type { Nvs, NvsNamespace } from './nvs.js';

/** Shown and polled until the device is approved. [xiaozhi §7.4] */
export interface Activation {
  readonly message: string;
  /** Digits to speak. */
  readonly code: string | undefined;
  readonly challenge: string | undefined;
}

/** The result of an answer; `updateUrl` is the image that is installed before anything else. */
export type HeardAnswer = { readonly updateUrl: string | undefined } & (
  | { readonly kind: 'settled'; readonly transport: 'mqtt' | 'websocket' }
  | { readonly kind: 'activation'; readonly activation: Activation }
);

type OtaVerdict =
  | HeardAnswer
  /** No JSON object: as good as no answer. */
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'crash'; readonly reason: string };

/** `version` is the one that runs. */
export function takeOtaAnswer(nvs: Nvs, text: string, version: string): OtaVerdict {
  const answer = readFirmwareJson(text);
  if (!(answer instanceof FirmwareObject)) return { kind: 'unreadable' };
  const { mqtt, websocket } = { mqtt: answer.get('mqtt'), websocket: answer.get('websocket') };
  const reason =
    store(nvs, 'mqtt', mqtt) ?? store(nvs, 'websocket', websocket) ?? versionAbort(answer.get('firmware'), version);
  if (reason !== undefined) return { kind: 'crash', reason };
  const updateUrl = updateIn(answer.get('firmware'), version);
  const activation = activationOf(answer.get('activation'));
  if (activation !== undefined) return { kind: 'activation', activation, updateUrl };
  const isWebSocket = websocket instanceof FirmwareObject && !(mqtt instanceof FirmwareObject);
  return { kind: 'settled', transport: isWebSocket ? 'websocket' : 'mqtt', updateUrl };
}

function store(nvs: Nvs, namespace: NvsNamespace, section: unknown): string | undefined {
  if (!(section instanceof FirmwareObject)) return undefined;
  for (const [name, value] of section.entries()) {
    const kept = typeof value === 'number' ? toInt32(value) : value;
    const reason = typeof kept === 'string' || typeof kept === 'number' ? nvs.store(namespace, name, kept) : undefined;
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Versions are compared only where there is a URL too, were it an empty one. [xiaozhi §7.5] */
function versionAbort(firmware: unknown, running: string): string | undefined {
  if (!(firmware instanceof FirmwareObject)) return undefined;
  const offered = firmware.get('version');
  if (typeof offered !== 'string' || typeof firmware.get('url') !== 'string') return undefined;
  const bad = [running, offered].find((version) =>
    segmentsOf(version).some((segment) => leadingInteger(segment) === undefined),
  );
  return bad === undefined ? undefined : `the version ${JSON.stringify(bad)} has a segment without a number`;
}

/** Installs only newer versions, unless the number 1 forces it at every boot. [xiaozhi §7.5] */
function updateIn(firmware: unknown, running: string): string | undefined {
  if (!(firmware instanceof FirmwareObject)) return undefined;
  const [version, url] = [firmware.get('version'), firmware.get('url')];
  if (typeof version !== 'string' || typeof url !== 'string') return undefined;
  return compareVersions(version, running) > 0 || firmware.get('force') === 1 ? url : undefined;
}

/** Nothing comes behind a dot at the end. */
function segmentsOf(version: string): readonly string[] {
  const segments = version.split('.');
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments;
}

function activationOf(section: unknown): Activation | undefined {
  if (!(section instanceof FirmwareObject)) return undefined;
  const text = (name: string): string | undefined => {
    const value = section.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const [code, challenge] = [text('code'), text('challenge')];
  return code === undefined && challenge === undefined
    ? undefined
    : { message: text('message') ?? '', code, challenge };
}
