/** A cluster in memory, as far as the controller sees it: what it reads and writes, and the collection of garbage. */

import type { Clock } from '../clock/clock.js';
import type { EventObject } from '../events/event-recorder.js';
import { keyOf } from '../object/api-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { MemoryResource } from './memory-resource.js';

export class MemoryCluster {
  readonly virtualMachines: MemoryResource<KubernetesObject>;
  readonly virtualMachineInstances: MemoryResource<KubernetesObject>;
  readonly networkConfigs: MemoryResource<KubernetesObject>;
  readonly ipPools: MemoryResource<KubernetesObject>;
  readonly networks: MemoryResource<KubernetesObject>;
  readonly events: MemoryResource<EventObject>;

  constructor(clock: Clock) {
    this.virtualMachines = new MemoryResource(clock);
    this.virtualMachineInstances = new MemoryResource(clock);
    this.networkConfigs = new MemoryResource(clock);
    this.ipPools = new MemoryResource(clock);
    this.networks = new MemoryResource(clock);
    this.events = new MemoryResource(clock);
  }

  /** What the controller writes to and reads from, Events left out. */
  get resources(): readonly MemoryResource<KubernetesObject>[] {
    return [this.virtualMachines, this.virtualMachineInstances, this.networkConfigs, this.ipPools, this.networks];
  }

  /** Deletes what belongs to a virtual machine that is no more. */
  async collectGarbage(): Promise<void> {
    const uids = new Set([...this.virtualMachines.objects.values()].map(({ metadata }) => metadata.uid));
    for (const object of [...this.networkConfigs.objects.values()]) {
      const { ownerReferences = [], uid = '' } = object.metadata;
      if (ownerReferences.length > 0 && !ownerReferences.some((owner) => uids.has(owner.uid))) {
        await this.networkConfigs.delete(keyOf(object), uid);
      }
    }
  }
}
