import type { BindingRecord } from '../binding/binding.js';

/**
 * Stores records so that they survive a crash: in a file, or in API objects. The caller implements it; `BindingRecorder` makes one call at a time.
 */
export interface BindingStore {
  /**
   * Appends these records. Resolves when all of them survive a crash. Rejects if that is not certain: then some of the first ones may survive, and
   * none may be written later.
   */
  readonly append: (records: readonly BindingRecord[]) => Promise<void>;
  /** Replaces all earlier records with these. A crash leaves either the old records or the new ones. */
  readonly replace: (records: Iterable<BindingRecord>) => Promise<void>;
}
