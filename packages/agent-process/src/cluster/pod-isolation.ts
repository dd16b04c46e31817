/**
 * The interfaces of a pod that lead to networks of virtual machines. All of them are isolated: those that are served, and those that the
 * agent is not configured with, or whose configuration it cannot read.
 */

import { readFileSync } from 'node:fs';
import { type AgentObserver, IsolatedInterfaces } from '@vmdhcp/dhcp-agent';
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import { isolateInterface, libc, prepareIsolation } from '@vmdhcp/linux-sockets';
import { podsOwnInterfaces, readPodNetwork } from './pod-interface.js';

/** As the controller names interfaces of agents, and as Multus names those that have no name. */
const TO_VIRTUAL_MACHINES = /^net(\d{1,3}|[\da-f]{12})$/;

export interface PodInterfaces {
  /** Of interfaces that pools are served on. */
  readonly configured: readonly string[];
  /** Of all interfaces that there are. */
  readonly present: readonly string[];
  /** By which the pod itself is reached; none if that is not known. */
  readonly own: ReadonlySet<string>;
}

/** The names of the interfaces to isolate. If the pod's own is not known: those that are served. */
export function interfacesToIsolate({ configured, present, own }: PodInterfaces): string[] {
  const further = own.size === 0 ? [] : present.filter((name) => TO_VIRTUAL_MACHINES.test(name) && !own.has(name));
  return [...new Set([...configured, ...further])];
}

/** @param podAddress - as Kubernetes sets it. */
export function podIsolation(
  configs: readonly AgentNetworkConfig[],
  { podAddress, observer }: { readonly podAddress: string | undefined; readonly observer: AgentObserver },
): IsolatedInterfaces {
  const configured = configs.map(({ interfaceName }) => interfaceName);
  // Found before anything is changed, and kept: a pool's server address could be that of the pod.
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
      if (own.has(link.interfaceName)) throw new Error('it is the interface by which the pod itself is reached');
      return isolateInterface(link);
    },
  });
}

/** Of interfaces in any state, also without addresses. */
function readInterfaceNames(): string[] {
  const lines = readFileSync('/proc/net/dev', 'utf8').split('\n');
  return lines.flatMap((line) => /^\s*([^\s:]+):/.exec(line)?.[1] ?? []);
}
