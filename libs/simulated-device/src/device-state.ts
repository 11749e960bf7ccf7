/**
 * The state behind the tools of a simulated device, and its status report. Part of it survives a
 * restart.
 */
import type { Nvs } from './boot/nvs.js';
import { FirmwareSlots, type Firmware } from './firmware/firmware-slots.js';
import type { DeviceFlash } from './connection/link.js';
import { identityWith, type DeviceIdentity } from './identity.js';
import { batteryOf, chargeAt, temperatureAt, type Battery, type Charge } from './changing-values.js';
import { seededRandom } from './behaviour/seeded-random.js';

/**
 * The backlight fades one step per 5 ms; the status reports the current value, not the target.
 * [xiaozhi §5.1]
 */
const FADE_STEP_MS = 5;
/** Volume and brightness 0 come back as this after a restart. [xiaozhi §5.1] */
const LEVEL_AFTER_RESTART = 10;
/** Levels of a new device. */
const VOLUME = 70;
const BRIGHTNESS = 75;

/** What one half of the flash holds at most, bytes. */
export const OTA_SLOT_BYTES = 4_128_768;
/** What there is for assets, bytes. */
export const ASSETS_BYTES = 8_388_608;

/** Which parts a board has; absent parts are absent from its status. */
export interface BoardParts {
  readonly board: string;
  readonly chip: string;
  readonly hasBacklight: boolean;
  readonly hasTheme: boolean;
  readonly hasCamera: boolean;
  readonly hasBattery: boolean;
  readonly measuresTemperature: boolean;
  readonly screen: { readonly width: number; readonly height: number };
}

/** The settings that people and the hub change. Absent parts have none. */
export interface DeviceLevels {
  readonly volume: number;
  readonly brightness: number | undefined;
  readonly theme: string | undefined;
}

export class DeviceState {
  volume = VOLUME;
  theme = 'light';
  isLampOn = false;
  pressToTalkMode = 'click_to_talk';
  /** Set by `initialize`, lost at a restart. [xiaozhi §4.3] */
  visionUrl = '';
  visionToken = '';
  assetsUrl = '';
  lastAction = 'stop';
  /** After a failed upgrade the device deals with MCP only, until it restarts. [xiaozhi §7.6] */
  isUpgrading = false;
  readonly firmware: FirmwareSlots;
  readonly #battery: Battery;
  readonly #temperature: number;
  readonly #rssi: number;
  #brightness = { from: BRIGHTNESS, to: BRIGHTNESS, at: 0 };

  constructor(
    readonly parts: BoardParts,
    public identity: DeviceIdentity,
    firmware: { readonly factory: Firmware; readonly installed: Firmware | undefined },
    random: () => number,
  ) {
    this.firmware = new FirmwareSlots(firmware.factory, firmware.installed);
    this.#battery = batteryOf(random());
    this.#temperature = 30 + Math.floor(random() * 250) / 10;
    this.#rssi = -45 - Math.floor(random() * 40);
  }

  chargeAt(now: number): Charge {
    return chargeAt(this.#battery, now);
  }

  /** A value equal to the one shown at this moment is ignored, even in the middle of a fade. */
  setBrightness(level: number, now: number): void {
    const shown = this.brightnessAt(now);
    if (level !== shown) this.#brightness = { from: shown, to: level, at: now };
  }

  brightnessAt(now: number): number {
    const { from, to, at } = this.#brightness;
    const steps = Math.min(Math.abs(to - from), Math.max(0, Math.floor((now - at) / FADE_STEP_MS)));
    return from + Math.sign(to - from) * steps;
  }

  levels(now: number): DeviceLevels {
    const { hasBacklight, hasTheme } = this.parts;
    const brightness = hasBacklight ? this.brightnessAt(now) : undefined;
    return { volume: this.volume, brightness, theme: hasTheme ? this.theme : undefined };
  }

  /** Forgets everything, who it is included; only the MAC is burnt in. */
  eraseFlash(uuid: string): void {
    this.identity = identityWith({ mac: this.identity.mac, uuid, board: this.parts.board });
    this.volume = VOLUME;
    this.theme = 'light';
    this.pressToTalkMode = 'click_to_talk';
    this.assetsUrl = '';
    this.#brightness = { from: BRIGHTNESS, to: BRIGHTNESS, at: 0 };
  }

  /** What is in the flash now. */
  flash({ contents: settings }: Pick<Nvs, 'contents'>): DeviceFlash {
    const firmware = this.firmware.installed;
    return { uuid: this.identity.uuid, settings, ...(firmware && { firmware }) };
  }

  /** The address for assets at the next boot, used once. Empty if no call has set it. */
  takeAssetsUrl(): string {
    const url = this.assetsUrl;
    this.assetsUrl = '';
    return url;
  }

  /** Forgets what lives in RAM; settings survive, levels of 0 do not. */
  restart(now: number): void {
    this.firmware.restart();
    this.isUpgrading = false;
    this.visionUrl = '';
    this.visionToken = '';
    this.isLampOn = false;
    this.lastAction = 'stop';
    const brightness = this.#brightness.to || LEVEL_AFTER_RESTART;
    this.volume = this.volume || LEVEL_AFTER_RESTART;
    this.#brightness = { from: brightness, to: brightness, at: now };
  }

  /**
   * The text of `self.get_device_status`. Concatenated, because load tests call it; no part needs
   * escaping. [xiaozhi §5.3]
   */
  status(now: number): string {
    const { hasBacklight, hasTheme, hasBattery, measuresTemperature } = this.parts;
    const brightness = hasBacklight ? `"brightness":${this.brightnessAt(now)}` : '';
    const theme = hasTheme ? `"theme":"${this.theme}"` : '';
    const screen = brightness && theme ? `${brightness},${theme}` : brightness + theme;
    const { level, charging } = this.chargeAt(now);
    const battery = hasBattery ? `"battery":{"level":${level},"charging":${charging}},` : '';
    const signal = this.#rssi >= -60 ? 'strong' : this.#rssi >= -70 ? 'medium' : 'weak';
    const chip = measuresTemperature ? `,"chip":{"temperature":${temperatureAt(this.#temperature, now)}}` : '';
    const network = `{"type":"wifi","ssid":"Simulated","signal":"${signal}"}`;
    return `{"audio_speaker":{"volume":${this.volume}},"screen":{${screen}},${battery}"network":${network}${chip}}`;
  }

  /** The text of `self.get_system_info`, and the body of the OTA request. [xiaozhi §7.2] */
  systemInfo(): string {
    const { parts, identity } = this;
    const { version, elfSha256 } = this.firmware.running;
    return JSON.stringify({
      version: 2,
      language: 'en-US',
      flash_size: 16_777_216,
      minimum_free_heap_size: '7340032',
      mac_address: identity.mac,
      uuid: identity.uuid,
      chip_model_name: parts.chip,
      chip_info: { model: 9, cores: 2, revision: 2, features: 18 },
      application: {
        name: 'xiaozhi',
        version,
        compile_time: 'Aug  6 2026T08:49:23Z',
        idf_version: 'v5.5.2',
        elf_sha256: elfSha256 ?? imageHash(`${parts.board}/${version}`),
      },
      partition_table: [
        { label: 'nvs', type: 1, subtype: 2, address: 36_864, size: 16_384 },
        { label: 'ota_0', type: 0, subtype: 16, address: 131_072, size: OTA_SLOT_BYTES },
        { label: 'ota_1', type: 0, subtype: 17, address: 4_259_840, size: OTA_SLOT_BYTES },
        { label: 'assets', type: 1, subtype: 130, address: 8_388_608, size: ASSETS_BYTES },
      ],
      ota: { label: 'ota_0' },
      display: { monochrome: false, ...parts.screen },
      board: {
        type: parts.board,
        name: parts.board,
        ssid: 'Simulated',
        rssi: this.#rssi,
        channel: 6,
        ip: '127.0.0.1',
        mac: identity.mac,
      },
    });
  }
}

/** 64 hex digits that are the same for the same firmware on the same board. */
function imageHash(image: string): string {
  let seed = 0;
  for (const character of image) seed = Math.imul(seed, 31) + (character.codePointAt(0) ?? 0);
  const random = seededRandom(seed);
  return Array.from({ length: 64 }, () => Math.floor(random() * 16).toString(16)).join('');
}
