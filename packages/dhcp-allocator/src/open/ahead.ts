/** Leases and quarantines that began in the future, by the clock of another replica. */
import type { BindingRecord } from '../binding/binding.js';

/** A lease or a quarantine that began in the future. */
export interface Ahead {
  readonly lastsMs: number;
  /** The record that ends it now. */
  readonly end: BindingRecord;
}
