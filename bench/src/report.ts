/** The report of a bench run. */

/** A figure and its limits. Without `atLeast` and `atMost` it is only shown. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export function holds({ value, atLeast = -Infinity, atMost = Infinity }: Figure): boolean {
  return value >= atLeast && value <= atMost;
}

/** Formats the figures as a table of plain text. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    round(figure.value),
    figure.unit,
    bound(figure),
    holds(figure) ? '' : 'MISSED',
  ]);
  const header = ['figure', 'value', 'unit', 'must be', ''];
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) => (column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

function bound({ atLeast, atMost }: Figure): string {
  if (atLeast !== undefined) return `at least ${round(atLeast)}`;
  return atMost === undefined ? '' : `at most ${round(atMost)}`;
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
