/** A Monday: the week of daily windows begins with one. */
const someMonday = Date.UTC(2024, 0, 1);
const dayMs = 86_400_000;

/** Monday to Sunday, short, as the language writes them. */
export function weekdayNames(language: string): readonly string[] {
  const format = new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' });
  return Array.from({ length: 7 }, (_, day) => format.format(someMonday + day * dayMs));
}
