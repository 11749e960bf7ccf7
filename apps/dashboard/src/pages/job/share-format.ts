/** Shares of a wave beside their threshold: rounded down, because 94.96 % is not 95 %. */
export function shareFormat(language: string): Intl.NumberFormat {
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1, roundingMode: 'floor' });
}
