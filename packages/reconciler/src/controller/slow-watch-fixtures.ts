import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import type { Running } from './controller-fixtures.js';

/** Watch events arrive later than answers, as usual on a real API server. */
export function slowWatch(running: Running, resource: MemoryResource<KubernetesObject>, delayMs: number): void {
  const { watch } = resource;
  (resource as { watch: typeof watch }).watch = (version, handlers) => {
    let stopped = false;
    const stop = watch(version, {
      onEvent: (event) => void running.clock.after(delayMs, () => !stopped && handlers.onEvent(event)),
      onEnd: (end) => void running.clock.after(delayMs, () => !stopped && handlers.onEnd(end)),
    });
    return () => {
      stopped = true;
      stop();
    };
  };
}
