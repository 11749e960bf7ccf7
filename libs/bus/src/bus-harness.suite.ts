/**
 * What the contract suites need of an implementation: two buses of one hub. A local bus is both
 * ends.
 */
import type { Bus } from './bus.js';

export interface BusHarness {
  readonly name: string;
  /**
   * Valid while the tests run. `there` is the bus of another process, if the implementation
   * supports several.
   */
  buses(): { readonly here: Bus; readonly there: Bus };
}
