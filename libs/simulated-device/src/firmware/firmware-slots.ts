/**
 * The two firmware slots of the flash: the running firmware, and its predecessor while the new one
 * is on trial. The boot loader rolls back firmware that restarts before it is confirmed. [xiaozhi
 * §7.6]
 */
export interface Firmware {
  readonly version: string;
  /** Lower-case hex, as the image says; absent for what the device came with. */
  readonly elfSha256?: string | undefined;
}

export class FirmwareSlots {
  #current: Firmware;
  #former: Firmware | undefined;
  /** `written` is taken at the next restart. */
  #stage: 'confirmed' | 'written' | 'trial' = 'confirmed';

  /** `installed` is what an earlier life has put over what the device came with. */
  constructor(
    private readonly factory: Firmware,
    installed: Firmware | undefined,
  ) {
    this.#current = installed ?? factory;
  }

  get running(): Firmware {
    return this.#current;
  }

  /** Undefined while the device runs what it came with. */
  get installed(): Firmware | undefined {
    return this.#current === this.factory ? undefined : this.#current;
  }

  /** The image is whole and is the one to start from now on. */
  install(firmware: Firmware): void {
    this.#former = this.#current;
    this.#current = firmware;
    this.#stage = 'written';
  }

  /** The first OTA check of the new firmware has succeeded. */
  confirm(): void {
    this.#stage = 'confirmed';
  }

  /** The former firmware is the one that runs; without one everything stays. */
  goBack(): void {
    this.#current = this.#former ?? this.#current;
    this.#stage = 'confirmed';
  }

  restart(): void {
    if (this.#stage === 'trial') this.goBack();
    else if (this.#stage === 'written') this.#stage = 'trial';
  }
}
