import { importedScript } from './imported-script.js';

/** For the environment of a program of ours: its clock is behind (negative) or ahead. TLS still has the clock of the host. */
export function clockOffset(offsetMs: number): Readonly<Record<string, string>> {
  return importedScript(`const Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { if (given.length === 0) super(Real.now() + ${offsetMs}); else super(...given); }
    static now() { return Real.now() + ${offsetMs}; }
  };`);
}
