import type { BindingRecord } from '../binding/binding.js';

/** Where records survive a crash: a file, API objects. The caller implements it; `BindingRecorder` calls it, one call at a time. */
export interface BindingStore {
  /**
   * Resolves when all of these survive a crash, after everything that was appended before. Rejects if that is not certain; some may survive then, in this
   * order, and none may be written later.
   */
  readonly append: (records: readonly BindingRecord[]) => Promise<void>;
  /** Replaces everything that was appended by these. A crash leaves the one or the other. */
  readonly replace: (records: Iterable<BindingRecord>) => Promise<void>;
}
