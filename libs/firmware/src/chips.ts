/**
 * The chips of ESP-IDF images, by the number in the header, with the names that devices report
 * (`chip_model_name`).
 */
const names: ReadonlyMap<number, string> = new Map([
  [0x00, 'esp32'],
  [0x02, 'esp32s2'],
  [0x05, 'esp32c3'],
  [0x09, 'esp32s3'],
  [0x0c, 'esp32c2'],
  [0x0d, 'esp32c6'],
  [0x10, 'esp32h2'],
  [0x12, 'esp32p4'],
  [0x14, 'esp32c61'],
  [0x17, 'esp32c5'],
  [0x19, 'esp32h21'],
  [0x1c, 'esp32h4'],
]);

/** Undefined for an unassigned number. */
export function chipOf(id: number): string | undefined {
  return names.get(id);
}

/** Undefined for an unknown name. */
export function chipIdOf(chip: string): number | undefined {
  return [...names].find(([, name]) => name === chip)?.[0];
}
