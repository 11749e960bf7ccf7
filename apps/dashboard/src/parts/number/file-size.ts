/** The size of a file in words: kB up to a megabyte, then MB with one decimal. */
export function fileSize(bytes: number, language: string): string {
  const isLarge = Math.round(bytes / 1_000) >= 1_000;
  const [unit, maximumFractionDigits] = isLarge ? (['megabyte', 1] as const) : (['kilobyte', 0] as const);
  const size = new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits });
  return size.format(bytes / (isLarge ? 1_000_000 : 1_000));
}
