/** Kinds of metrics that several parts of the hub have. Their values are read at each scrape. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { answerOr } from '../answer-or.js';

interface Totals {
  readonly name: string;
  readonly help: string;
  readonly label: string;
}

/** Counts that another part keeps, by the value of one label. */
export function addTotals(
  registry: Registry,
  { name, help, label }: Totals,
  totals: () => Iterable<readonly [value: string, count: number]>,
): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, count] of totals()) this.inc({ [label]: value }, count);
    },
  });
}

/** Returns a function that adds gauges of a backlog, with one statement for those of a scrape. */
export function backlogGauges<Backlog>(registry: Registry, backlog: () => Promise<Backlog>) {
  let reading: Promise<Backlog | undefined> | undefined;
  const read = () =>
    (reading ??= answerOr<Backlog | undefined>(backlog(), undefined).finally(() => (reading = undefined)));
  return (name: string, help: string, value: (now: Backlog) => number) =>
    new Gauge({
      name,
      help: `${help}; NaN while PostgreSQL does not answer.`,
      registers: [registry],
      async collect() {
        const now = await read();
        this.set(now === undefined ? Number.NaN : value(now));
      },
    });
}
