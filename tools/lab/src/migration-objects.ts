import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { UPSTREAM_NAMESPACE } from './upstream-objects.js';

/** Our controller as a chart installs it beside Harvester's: it takes its agents over. */
export function ownControllerDeployment(agentNamespace: string, image: string): KubernetesObject {
  const labels = { 'app.kubernetes.io/name': 'vm-dhcp-controller', 'app.kubernetes.io/component': 'controller' };
  const env = [
    { name: 'AGENT_NAMESPACE', value: agentNamespace },
    { name: 'AGENT_PREVIOUS_NAMESPACE', value: UPSTREAM_NAMESPACE },
    { name: 'AGENT_IMAGE', value: image },
  ];
  const containers = [{ name: 'vm-dhcp-controller', image: 'vmdhcp-controller', args: ['run'], env }];
  const spec = { serviceAccountName: 'vm-dhcp-controller', containers };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: UPSTREAM_NAMESPACE, name: 'vm-dhcp-controller', labels },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}
