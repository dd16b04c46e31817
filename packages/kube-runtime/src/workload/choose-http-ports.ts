/** TCP ports of nodes, one for each workload on their network: agents of two objects may run on one node. */
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField, readList } from '../object/read-field.js';

/** Ports that neither Kubernetes nor Harvester uses, below those that Linux chooses for clients. */
export interface PortRange {
  readonly first: number;
  readonly count: number;
}

/**
 * The port of each name: that of its workload, otherwise the first free one.
 *
 * @param workloads - by name, oldest first; undefined if it does not exist yet.
 * @param observed - every workload, because agents that are being removed still use their port.
 */
export function chooseHttpPorts(
  workloads: ReadonlyMap<string, KubernetesObject | undefined>,
  observed: readonly KubernetesObject[],
  range: PortRange,
): ReadonlyMap<string, number> {
  const ports = new Map<string, number>();
  const taken = new Set<number>();
  for (const [name, workload] of workloads) {
    const port = workload && httpPortOf(workload, range);
    if (port === undefined || taken.has(port)) continue;
    ports.set(name, port);
    taken.add(port);
  }
  for (const workload of observed) taken.add(httpPortOf(workload, range) ?? range.first - 1);
  let next = range.first;
  for (const name of workloads.keys()) {
    if (ports.has(name)) continue;
    while (taken.has(next)) next++;
    ports.set(name, next);
    taken.add(next);
  }
  return ports;
}

/** The port of this workload's agents; undefined if it is not in the range. */
export function httpPortOf(workload: KubernetesObject, { first, count }: PortRange): number | undefined {
  const [container] = readList(workload.spec, 'template', 'spec', 'containers');
  const ports = readList(container, 'ports').map((port) => Number(readField(port, 'containerPort')));
  return ports.find((port) => port >= first && port < first + count);
}
