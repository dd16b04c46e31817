/** Values that cost something to read, and are read again from time to time. */

export interface Remembered<Value> {
  /** Returns the value, which is at most as old as its lifetime, or older if it cannot be read any more. @throws what `read` throws. */
  readonly get: () => Promise<Value>;
  /** Makes the next `get` read the value. Returns false, and changes nothing, if that was done within the last seconds. */
  readonly forget: () => boolean;
}

/** A value is forgotten once within this time: a server that refuses every value must not cause constant reading. */
const FORGET_EVERY_MS = 5_000;

/** Reads a value when it is first asked for, and again after its lifetime. A reading that hangs is not begun again by each caller. */
export function rememberFor<Value>(lifetimeMs: number, read: () => Promise<Value>): Remembered<Value> {
  let known: { readonly value: Value; readonly atMs: number } | undefined;
  let reading: Promise<Value> | undefined;
  let forgottenAtMs = Number.NEGATIVE_INFINITY;
  const readOnce = async () => {
    try {
      known = { value: await read(), atMs: performance.now() };
    } catch (error) {
      if (known === undefined) throw error;
      known = { ...known, atMs: performance.now() };
    } finally {
      reading = undefined;
    }
    return known.value;
  };
  return {
    get: async () => {
      if (known !== undefined && performance.now() - known.atMs < lifetimeMs) return known.value;
      reading ??= readOnce();
      return await reading;
    },
    forget: () => {
      if (performance.now() - forgottenAtMs < FORGET_EVERY_MS) return false;
      forgottenAtMs = performance.now();
      known = undefined;
      return true;
    },
  };
}
