/**
 * Finds the interfaces of a pod that lead to networks of virtual machines. All of them are isolated: those with a pool, those
 * that the agent is not configured with, and those whose configuration it cannot read.
 */

import { readFileSync } from 'node:fs';
import { type AgentObserver, IsolatedInterfaces } from '@vmdhcp/dhcp-agent';
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import { isolateInterface, libc, prepareIsolation } from '@vmdhcp/linux-sockets';
import { podsOwnInterfaces, readPodNetwork } from './pod-interface.js';

/** The names that the controller gives to interfaces of agents, and the default names of Multus. */
const TO_VIRTUAL_MACHINES = /^net(\d{1,3}|[\da-f]{12})$/;

export interface PodInterfaces {
  /** Interfaces with a pool. */
  readonly configured: readonly string[];
  /** All interfaces. */
  readonly present: readonly string[];
  /** The interfaces by which the pod itself is reached; none if that is not known. */
  readonly own: ReadonlySet<string>;
}

/** The names of the interfaces to isolate. If the pod's own interface is not known: only those with a pool. */
export function interfacesToIsolate({ configured, present, own }: PodInterfaces): string[] {
  const further = own.size === 0 ? [] : present.filter((name) => TO_VIRTUAL_MACHINES.test(name) && !own.has(name));
  return [...new Set([...configured, ...further])];
}

/** @param podAddress - the value from Kubernetes. */
export function podIsolation(
  configs: readonly AgentNetworkConfig[],
  { podAddress, observer }: { readonly podAddress: string | undefined; readonly observer: AgentObserver },
): IsolatedInterfaces {
  const configured = configs.map(({ interfaceName }) => interfaceName);
  // Determined before anything is changed, and kept: a pool's server address could equal the address of the pod.
  let own = podsOwnInterfaces(readPodNetwork(podAddress));
  return new IsolatedInterfaces({
    names: () => {
      if (own.size === 0) own = podsOwnInterfaces(readPodNetwork(podAddress));
      return interfacesToIsolate({ configured, present: readInterfaceNames(), own });
    },
    observer,
    nowMs: () => performance.now(),
    indexOf: libc.ifNameToIndex,
    prepare: prepareIsolation,
    isolate: (link) => {
      if (own.has(link.interfaceName)) throw new Error('the pod itself is reached by this interface');
      return isolateInterface(link);
    },
  });
}

/** Interfaces in any state, including those without addresses. */
function readInterfaceNames(): string[] {
  const lines = readFileSync('/proc/net/dev', 'utf8').split('\n');
  return lines.flatMap((line) => /^\s*([^\s:]+):/.exec(line)?.[1] ?? []);
}
