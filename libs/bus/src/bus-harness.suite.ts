/** What the contract suites need of an implementation: two buses of one hub. A bus within one process is both ends at once. */
import type { Bus } from './bus.js';

export interface BusHarness {
  readonly name: string;
  /** Valid while the tests run. `there` is another process's bus where the implementation has such a thing. */
  buses(): { readonly here: Bus; readonly there: Bus };
}
