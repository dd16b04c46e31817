/** TCP ports of nodes, one for each DaemonSet: agents of two WolConfigs may run on one node. */
import { type KubernetesObject, readField, readList } from '@vmdhcp/kube-runtime';

/** Not used by Kubernetes or Harvester, and below the ports that Linux chooses for clients. */
export const FIRST_HTTP_PORT = 18_420;
const MOST_HTTP_PORTS = 2_000;

/**
 * The port of each WolConfig: the one that its DaemonSet has, else the first that no DaemonSet has.
 *
 * @param configs - their names, the older ones first, each with its DaemonSet.
 * @param observed - every DaemonSet: agents that are on their way out still have their port.
 */
export function chooseHttpPorts(
  configs: ReadonlyMap<string, KubernetesObject | undefined>,
  observed: readonly KubernetesObject[],
): ReadonlyMap<string, number> {
  const ports = new Map<string, number>();
  const taken = new Set<number>();
  for (const [name, daemonSet] of configs) {
    const port = daemonSet && httpPortOf(daemonSet);
    if (port === undefined || taken.has(port)) continue;
    ports.set(name, port);
    taken.add(port);
  }
  for (const daemonSet of observed) taken.add(httpPortOf(daemonSet) ?? FIRST_HTTP_PORT - 1);
  let next = FIRST_HTTP_PORT;
  for (const name of configs.keys()) {
    if (ports.has(name)) continue;
    while (taken.has(next)) next++;
    ports.set(name, next);
    taken.add(next);
  }
  return ports;
}

/** The port by which agents of this DaemonSet are asked; undefined: it has none of these. */
export function httpPortOf(daemonSet: KubernetesObject): number | undefined {
  const [container] = readList(daemonSet.spec, 'template', 'spec', 'containers');
  const ports = readList(container, 'ports').map((port) => Number(readField(port, 'containerPort')));
  return ports.find((port) => port >= FIRST_HTTP_PORT && port < FIRST_HTTP_PORT + MOST_HTTP_PORTS);
}
