import type { Clock } from '@vmdhcp/kube-runtime';

/** Calls `run` again and again, `intervalMs` after each call began. Returns a function that ends that. */
export function every(clock: Clock, intervalMs: number, run: () => void): () => void {
  let callOff = clock.after(intervalMs, fire);
  return () => callOff();

  function fire(): void {
    callOff = clock.after(intervalMs, fire);
    run();
  }
}
