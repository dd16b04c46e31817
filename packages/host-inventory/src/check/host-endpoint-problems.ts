import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import { hostStatusName, isObjectName } from '../host/host-name.js';
import type { HostProblem } from '../object/problem.js';
import { numberAt, textAt } from '../object/read-field.js';
import { parseHostAddress } from './host-address.js';
import { secretProblems } from './secret-problems.js';

/** The longest name of a ClusterAgent, for trying whether an address gives a name. */
const ANY_CLUSTER_AGENT = 'a'.repeat(63);

/** Everything that is wrong with a HostEndpoint by itself: none for one whose host can have an object. */
export function hostEndpointProblems({ spec }: KubernetesObject): HostProblem[] {
  const port = numberAt(spec, 'port') ?? 443;
  return [
    ...addressProblems(textAt(spec, 'ipAddr')),
    ...(Number.isInteger(port) && port >= 1 && port <= 65_535
      ? []
      : [
          {
            reason: 'out-of-bounds',
            path: ['spec', 'port'],
            message: `${port} is no TCP port`,
            remedy: 'write 1 to 65535',
          } as const,
        ]),
    ...secretProblems(['spec'], spec),
  ];
}

/** Which ClusterAgent a HostEndpoint belongs to; undefined: none. Where there is only one, it need not be written. @param names - of all ClusterAgents. */
export function clusterAgentOf(endpoint: KubernetesObject, names: readonly string[]): string | undefined {
  const written = textAt(readField(endpoint, 'spec'), 'clusterAgent');
  if (written !== undefined) return names.includes(written) ? written : undefined;
  return names.length === 1 ? names[0] : undefined;
}

function addressProblems(text: string | undefined): HostProblem[] {
  const path = ['spec', 'ipAddr'];
  const remedy = 'write four numbers of 0 to 255, as in 192.168.0.10';
  if (text === undefined) return [{ reason: 'missing', path, message: 'is missing', remedy }];
  const address = parseHostAddress(text);
  if (address === undefined)
    return [{ reason: 'not-an-address', path, message: `${JSON.stringify(text)} is no IPv4 address`, remedy }];
  if (isObjectName(hostStatusName(ANY_CLUSTER_AGENT, address))) return [];
  return [
    { reason: 'not-an-address', path, message: `${text} gives no name of an object`, remedy: 'write all groups of the address' },
  ];
}
