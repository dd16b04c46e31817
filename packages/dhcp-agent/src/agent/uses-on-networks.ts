import type { Ipv4Address, MacAddress, Pool } from '@vmdhcp/dhcp-allocator';
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import type { ObservedUse } from '@vmdhcp/reconciler/pool';
import type { AgentPorts } from '../ports.js';
import type { FindAddressUsers } from '../probe/address-users.js';
import { ObservedUses } from '../probe/observed-uses.js';

export interface UsesOnNetworksPorts extends Pick<AgentPorts, 'clock' | 'observer' | 'listenForAddresses'> {
  readonly sockets: Pick<AgentPorts['sockets'], 'indexOf'>;
  readonly findUsers: FindAddressUsers;
  readonly ownerOf: (poolKey: string, address: Ipv4Address) => MacAddress | undefined;
  /** Writes the report anew. */
  readonly publish: () => void;
}

/** Finds the uses of the addresses of all pools of an agent. */
export class UsesOnNetworks {
  readonly #ofPools: ReadonlyMap<string, { readonly interfaceName: string; readonly uses: ObservedUses }>;

  constructor(configs: readonly AgentNetworkConfig[], ports: UsesOnNetworksPorts) {
    const { clock, sockets, listenForAddresses, publish } = ports;
    const usesOn = (interfaceName: string) =>
      new ObservedUses({
        ...{ ...ports, interfaceName, nowMs: clock.nowMs, onChange: publish },
        interfaceIndex: () => sockets.indexOf(interfaceName),
        listen: (lowest, highest) => listenForAddresses(interfaceName, lowest, highest),
      });
    this.#ofPools = new Map(
      configs.map(({ ipPoolRef, interfaceName }) => [ipPoolRef, { interfaceName, uses: usesOn(interfaceName) }]),
    );
  }

  /** Call it every second. @param heardOn - the pool of this key, if its network is to be heard by this interface. */
  look(heardOn: (poolKey: string, interfaceName: string) => Pool | undefined): void {
    for (const [key, { interfaceName, uses }] of this.#ofPools) uses.look(heardOn(key, interfaceName));
  }

  of(poolKey: string): readonly ObservedUse[] {
    return this.#ofPools.get(poolKey)?.uses.uses() ?? [];
  }
}
