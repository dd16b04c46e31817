import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import type { Running } from './controller-fixtures.js';

/** Watches tell later than answers arrive, as on a real API server they mostly do. */
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
