/** What `manifests/` installs, for labs that start the programs themselves. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readYaml } from './cluster-access.js';

/** The folder of manifests that users apply too. */
export const MANIFESTS = fileURLToPath(new URL('../../../manifests/', import.meta.url));
/** The namespace of the controller and the webhook. */
export const CONTROLLER_NAMESPACE = 'vm-dhcp-system';
const COMPONENT_LABEL = 'app.kubernetes.io/component';

/** The namespaces and the manifests of the controller or the webhook, except the Deployment: a process stands for it. */
export function installedFor(component: 'controller' | 'webhook'): readonly KubernetesObject[] {
  return withoutDeployments('vmdhcp.yaml', component);
}

/** The same for a controller with Wake-on-LAN, and the manifests of its agents. */
export function installedForWakeOnLan(): readonly KubernetesObject[] {
  return withoutDeployments('vmdhcp-wake-on-lan.yaml', 'controller', 'wake-on-lan');
}

/** The same for a controller with bare-metal hosts, and the rights of its agents. */
export function installedForBareMetal(): readonly KubernetesObject[] {
  return withoutDeployments('vmdhcp-bare-metal.yaml', 'controller', 'bare-metal');
}

/** The same for a controller with the page, and the rights of its readers. */
export function installedForPage(): readonly KubernetesObject[] {
  return withoutDeployments('vmdhcp-ui.yaml', 'controller', 'ui');
}

/** Everything in a file of `manifests/`. */
export function installedWith(file: string): readonly KubernetesObject[] {
  return readYaml(join(MANIFESTS, file));
}

function withoutDeployments(file: string, ...components: readonly string[]): readonly KubernetesObject[] {
  return installedWith(file).filter(
    ({ kind, metadata }) =>
      kind === 'Namespace' || (kind !== 'Deployment' && components.includes(metadata.labels?.[COMPONENT_LABEL] ?? '')),
  );
}

/** The agents of topology unified, with their rights. Their namespace comes with the controller. */
export function unifiedAgents(): readonly KubernetesObject[] {
  return readYaml(join(MANIFESTS, 'vmdhcp-unified.yaml')).filter(
    ({ kind, metadata }) => kind !== 'Namespace' && metadata.labels?.[COMPONENT_LABEL] === 'agent',
  );
}
