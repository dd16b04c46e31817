import { join } from 'node:path';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readYaml } from './cluster-access.js';
import { MANIFESTS } from './installed-objects.js';
import { UPSTREAM_NAMESPACE } from './upstream-objects.js';

/** Our controller as the manifest installs it, one replica, beside Harvester's: it takes its agents over. @param more - of its environment. */
export function ownControllerDeployment(image: string, more: Readonly<Record<string, string>> = {}): KubernetesObject {
  const manifest = readYaml(join(MANIFESTS, 'vmdhcp.yaml'));
  const found = manifest.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'vm-dhcp-controller');
  const deployment = structuredClone(found) as unknown as Deployment;
  const [container] = deployment.spec.template.spec.containers;
  const settings = { AGENT_IMAGE: image, AGENT_PREVIOUS_NAMESPACE: UPSTREAM_NAMESPACE, ...more };
  const kept = container.env.filter(({ name }) => !(name in settings));
  container.env = [...kept, ...Object.entries(settings).map(([name, value]) => ({ name, value }))];
  deployment.spec.replicas = 1;
  return deployment as unknown as KubernetesObject;
}

interface Deployment {
  readonly spec: {
    replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly [{ env: { readonly name: string }[] }] } };
  };
}
