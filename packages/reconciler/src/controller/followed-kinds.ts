/** The kinds that addresses depend on, as caches: listed, watched, and listed anew when leadership begins. */

import { Resource } from '@vmdhcp/ippool-api/resources';
import type { ApiResource, CacheSubscription } from '@vmdhcp/kube-runtime';
import { InstanceSource, type InstancesState } from '../view/instance-source.js';
import { MissingKinds } from '../view/missing-kinds.js';
import { byKind, CACHED_KINDS, type CachedKind } from './by-kind.js';
import type { ByKind } from './controller-context.js';
import type { DhcpControllerSettings } from './dhcp-controller-settings.js';

export interface FollowedKindsSettings extends Pick<DhcpControllerSettings, 'caches' | 'onlyNamespace' | 'observer'> {
  readonly onChange: (kind: CachedKind, key: string, isOwn: boolean) => void;
  /** An instance of a virtual machine has changed. */
  readonly onMachineChange: (key: string) => void;
  /** A kind has been listed for the first time. */
  readonly onSynced: () => void;
  readonly onInstances: (state: InstancesState) => void;
}

export class FollowedKinds {
  readonly caches: ByKind<CacheSubscription>;
  readonly instances: InstanceSource;
  readonly missing: MissingKinds;
  readonly #settings: FollowedKindsSettings;

  constructor(settings: FollowedKindsSettings) {
    this.#settings = settings;
    const { caches, observer, onMachineChange, onInstances } = settings;
    this.missing = new MissingKinds({
      isListed: (kind) => this.caches[kind].synced,
      onChange: (kind, message) => observer?.onMissingKind?.(kind, message),
    });
    this.caches = byKind((kind) => this.#subscribe(kind));
    this.instances = new InstanceSource({
      caches,
      resource: this.#within(Resource.virtualMachineInstances),
      onChange: onMachineChange,
      onState: onInstances,
      onError: (error) => observer?.onReadError?.('virtualMachineInstances', error),
    });
  }

  /** True once every cache is complete. */
  get synced(): boolean {
    return CACHED_KINDS.every((kind) => this.caches[kind].synced) && this.instances.synced;
  }

  start(): void {
    for (const kind of CACHED_KINDS) this.caches[kind].start();
    this.instances.start();
  }

  /** Resolves when all of them are as new as this call. */
  async refresh(): Promise<void> {
    await Promise.all([...CACHED_KINDS.map((kind) => this.caches[kind].refresh()), this.instances.refresh()]);
  }

  stop(): void {
    for (const kind of CACHED_KINDS) this.caches[kind].stop();
    this.instances.stop();
  }

  /** Only objects of the namespace that this controller sees, if it is limited to one. */
  #within(resource: ApiResource): ApiResource {
    const { onlyNamespace } = this.#settings;
    return onlyNamespace === undefined ? resource : { namespace: onlyNamespace, ...resource };
  }

  #subscribe(kind: CachedKind): CacheSubscription {
    return this.#settings.caches.subscribe(this.#within(Resource[kind]), {
      onChange: (key, isOwn) => this.#settings.onChange(kind, key, isOwn),
      onSynced: () => {
        this.missing.noteListed(kind);
        this.#settings.onSynced();
      },
      onError: (error) => {
        if (!this.missing.noteError(kind, error)) this.#settings.observer?.onReadError?.(kind, error);
      },
    });
  }
}
