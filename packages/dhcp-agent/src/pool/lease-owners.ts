/** The owners of leases, from the VirtualMachineNetworkConfigs of the cluster; only for people who read `/leases`. */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { type Clock, type KubernetesObject, ObjectCache, type ObjectClient, readList, readText } from '@vmdhcp/kube-runtime';
import type { AgentObserver } from '../ports.js';

/** Nothing waits for it, so an agent without the right to list them need not retry often. */
const BACK_OFF = { firstMs: 1_000, mostMs: 300_000 };

/** How the owners of addresses are read from the cluster. */
export interface LeaseOwnersPorts {
  /** The port for all VirtualMachineNetworkConfigs. */
  readonly client: ObjectClient<KubernetesObject>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observer: AgentObserver;
}

export class LeaseOwners {
  readonly #cache: ObjectCache<KubernetesObject>;
  #hasWarned = false;

  constructor({ client, clock, random, observer }: LeaseOwnersPorts) {
    this.#cache = new ObjectCache({
      port: client,
      clock,
      backOff: { ...BACK_OFF, random },
      onChange: () => undefined,
      onError: (error) => {
        if (this.#hasWarned) return;
        this.#hasWarned = true;
        observer.observe({ kind: 'owners-unreadable', error });
      },
    });
  }

  start(): void {
    this.#cache.start();
  }

  stop(): void {
    this.#cache.stop();
  }

  /** The current owners, `namespace/name`, by network and MAC address. */
  read(): (network: string, macAddress: MacAddress) => string | undefined {
    const owners = new Map<string, string>();
    for (const { metadata, spec, status } of this.#cache.values()) {
      const entries = [...readList(spec, 'networkConfigs'), ...readList(status, 'networkConfigs')];
      for (const entry of entries) {
        const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
        if (macAddress !== undefined)
          owners.set(`${readText(entry, 'networkName')} ${macAddress}`, `${metadata.namespace}/${metadata.name}`);
      }
    }
    return (network, macAddress) => owners.get(`${network} ${macAddress}`);
  }
}
