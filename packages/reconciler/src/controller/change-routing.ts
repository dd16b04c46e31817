/** Routes changes: decides which keys of which kinds are reconciled because of a change. */
import { isBeingDeleted } from '@vmdhcp/kube-runtime';
import type { AgentsChange } from '../view/agents-view.js';
import type { ClusterView } from '../view/cluster-view.js';
import type { MachineAddresses } from '../view/machine-addresses.js';
import type { SharedSegments } from '../view/shared-segments.js';
import type { AgentsContext } from './agents-context.js';
import type { ByKind, ControllerContext } from './controller-context.js';

type CachedKind = keyof ByKind<unknown>;

export interface ChangeRoutingParts extends Pick<ControllerContext, 'caches' | 'enqueueRelease'> {
  readonly view: ClusterView;
  readonly segments: SharedSegments;
  readonly inventory: Pick<MachineAddresses, 'note'>;
  /** Undefined if this controller deploys no agents. */
  readonly agents: Pick<AgentsContext, 'pools' | 'eligible'> | undefined;
  readonly isReconciling: () => boolean;
  readonly enqueue: (kind: CachedKind, key: string) => void;
  readonly enqueueAgentGroups: () => void;
  /** The object is gone: its reconciler forgets it. */
  readonly forgetNetworkConfig: (key: string) => void;
}

export class ChangeRouting {
  readonly #parts: ChangeRoutingParts;

  constructor(parts: ChangeRoutingParts) {
    this.#parts = parts;
  }

  /** Routes a changed object of a cache. @param isOwn - true if this controller wrote it. */
  onChange(kind: CachedKind, key: string, isOwn: boolean): void {
    const { caches, enqueue } = this.#parts;
    switch (kind) {
      case 'virtualMachines':
        this.onMachineChange(key);
        // Reports what it leaves behind.
        if (caches.virtualMachines.get(key) === undefined) enqueue('networkConfigs', key);
        return;
      case 'networkConfigs':
        this.#onNetworkConfigChange(key, isOwn);
        return;
      case 'ipPools':
        this.#onPoolChange(key, isOwn);
        return;
      case 'networks':
        this.#onNetworkChange(key, isOwn);
    }
  }

  /** Undefined if everything about agents may be new. */
  onAgentsChange(change: AgentsChange | undefined): void {
    const { agents, enqueue, enqueueAgentGroups, isReconciling } = this.#parts;
    enqueueAgentGroups();
    if (change === undefined || agents === undefined || !isReconciling()) return;
    const { pools } = agents;
    for (const key of pools.changed(pools.concernedBy(change))) enqueue('ipPools', key);
  }

  #onNetworkChange(key: string, isOwn: boolean): void {
    const { enqueue, enqueueAgentGroups, isReconciling, segments, view } = this.#parts;
    if (!isOwn) {
      enqueueAgentGroups();
      enqueue('networks', key);
      // Its configuration decides which interfaces get addresses.
      if (isReconciling()) for (const machine of view.machinesOn(key)) enqueue('virtualMachines', machine);
    }
    for (const pool of view.poolsOn(key)) enqueue('ipPools', pool);
    for (const pool of segments.noteNetwork(key)) enqueue('ipPools', pool);
    // The network decides whether a missing pool is reported.
    if (view.servingPool(key) === undefined) for (const config of view.configsOn(key)) enqueue('networkConfigs', config);
  }

  /** A change of the virtual machine, or of its VirtualMachineInstance, which has the same name. */
  onMachineChange(key: string): void {
    const { enqueue, inventory, view } = this.#parts;
    for (const network of view.noteVirtualMachine(key)) this.#enqueueReleaseOn(network);
    enqueue('virtualMachines', key);
    inventory.note(key);
  }

  #onNetworkConfigChange(key: string, isOwn: boolean): void {
    const { caches, enqueue, forgetNetworkConfig, inventory, view } = this.#parts;
    const object = caches.networkConfigs.get(key);
    const isEnding = object === undefined || isBeingDeleted(object);
    for (const network of view.noteNetworkConfig(key)) {
      if (isEnding) this.#enqueueReleaseOn(network);
      else this.#enqueuePoolOf(network);
    }
    if (object === undefined) forgetNetworkConfig(key);
    else enqueue('networkConfigs', key);
    // Its virtual machine decides its content: another client may have deleted or edited it.
    if (!isOwn) enqueue('virtualMachines', key);
    // It stores MAC addresses of its virtual machine.
    inventory.note(key);
  }

  #enqueuePoolOf(network: string): void {
    const { enqueue, view } = this.#parts;
    const pool = view.servingPool(network);
    if (pool !== undefined) enqueue('ipPools', pool.key);
  }

  #enqueueReleaseOn(network: string): void {
    const { enqueueRelease, view } = this.#parts;
    const pool = view.servingPool(network);
    if (pool !== undefined) enqueueRelease(pool.key);
  }

  #onPoolChange(key: string, isOwn: boolean): void {
    const { enqueue, segments, view } = this.#parts;
    const networks = view.notePool(key);
    this.#noteForAgents(key, isOwn);
    if (isOwn) return;
    enqueue('ipPools', key);
    for (const network of networks) {
      enqueue('networks', network);
      for (const other of view.poolsOn(network)) enqueue('ipPools', other);
      for (const other of segments.noteNetwork(network)) enqueue('ipPools', other);
      if (view.servingPool(network)?.key !== key) {
        for (const config of view.configsOn(network)) enqueue('networkConfigs', config);
      }
    }
  }

  #noteForAgents(key: string, isOwn: boolean): void {
    const { agents, enqueueAgentGroups, view } = this.#parts;
    if (agents === undefined) return;
    const { pools, eligible } = agents;
    const pool = view.pool(key);
    if (pool === undefined) pools.forgetPool(key);
    else pools.notePool(pool);
    if (eligible.note(key, pool) && !isOwn) enqueueAgentGroups();
  }
}
