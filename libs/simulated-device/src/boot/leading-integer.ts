/** The number that a text begins with, as the firmware's `std::stoi` reads it; undefined where that throws and takes the firmware down. */
export function leadingInteger(text: string): number | undefined {
  const digits = /^[ \t\n\v\f\r]*([-+]?\d+)/.exec(text)?.[1];
  const value = digits === undefined ? undefined : Number(digits);
  return value !== undefined && value === (value | 0) ? value : undefined;
}
