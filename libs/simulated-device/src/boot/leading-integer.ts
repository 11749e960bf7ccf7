/**
 * Parses the leading integer of a text as the firmware's `std::stoi` does. Undefined where that
 * throws and crashes the firmware.
 */
export function leadingInteger(text: string): number | undefined {
  const digits = /^[ \t\n\v\f\r]*([-+]?\d+)/.exec(text)?.[1];
  const value = digits === undefined ? undefined : Number(digits);
  return value !== undefined && value === (value | 0) ? value : undefined;
}
