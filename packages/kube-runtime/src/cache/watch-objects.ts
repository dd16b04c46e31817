import type { ApiResource } from '../api/api-resource.js';
import type { ResourcePort } from '../api/resource-port.js';
import type { Clock } from '../clock/clock.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { SharedCaches } from './shared-caches.js';

/** One object, by kind, namespace and name. */
export type NamedResource = ApiResource & { readonly name: string };

/** How objects are listed and watched, and who is told of changes. */
export interface WatchObjectsPorts {
  readonly open: (resource: ApiResource) => ResourcePort<KubernetesObject>;
  readonly clock: Clock;
  /** For the back-off; 0 to 1, as Math.random. */
  readonly random: () => number;
  /** One of the objects was added, changed or deleted. */
  readonly onChange: () => void;
}

/** The objects of a kind by name, kept up to date. */
export interface WatchedObjects {
  /** True if each change is noticed, so that the objects need not be polled. False without the right to list and watch them. */
  readonly isComplete: () => boolean;
  readonly start: () => void;
  readonly stop: () => void;
}

/** Watches objects that replicas share, by name. The server sends only their metadata, nothing secret. */
export function watchObjects(
  names: readonly NamedResource[],
  { open, clock, random, onChange }: WatchObjectsPorts,
): WatchedObjects {
  const caches = new SharedCaches({
    open,
    clock,
    backOff: { firstMs: 100, mostMs: 30_000, random },
  });
  const failing = new Set<string>();
  const subscriptions = names.map(({ name, ...resource }) => {
    const key = `${resource.plural} ${name}`;
    const works = () => void failing.delete(key);
    // Its user has to look by itself from now on.
    const fails = () => {
      const isFirst = failing.size === 0;
      failing.add(key);
      if (isFirst) onChange();
    };
    const listener = { onChange, onListed: works, onWatchEvent: works, onError: fails };
    return caches.subscribe({ ...resource, fieldSelector: `metadata.name=${name}`, metadataOnly: true }, listener);
  });
  return {
    isComplete: () => failing.size === 0 && subscriptions.every(({ synced }) => synced),
    start: () => {
      for (const each of subscriptions) each.start();
    },
    stop: () => {
      for (const each of subscriptions) each.stop();
    },
  };
}
