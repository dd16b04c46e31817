import { render } from './render-chart.js';

/** Where the manifests install the controller. */
export const MANIFEST_NAMESPACE = 'vm-dhcp-system';

interface Manifest {
  readonly title: string;
  /** The values that it is rendered with. */
  readonly set: readonly string[];
  /** Which documents belong to it, in namespaces that another file creates; undefined for an installation. */
  readonly has?: (document: string) => boolean;
}

const isOfOpenShift = (document: string) => document.includes('app.kubernetes.io/component: openshift\n');

/** The files of `manifests/`. */
export const MANIFESTS: Readonly<Record<string, Manifest>> = {
  'vmdhcp.yaml': { title: 'vmdhcp with the default values of its chart', set: [] },
  'vmdhcp-unified.yaml': {
    title: 'vmdhcp with one Deployment of agents for all pools (topology unified)',
    set: ['agent.topology=unified'],
  },
  'vmdhcp-wake-on-lan.yaml': {
    title: 'vmdhcp with Wake-on-LAN: magic packets start virtual machines, as WolConfigs allow',
    set: ['wakeOnLan.enabled=true'],
  },
  'vmdhcp-bare-metal.yaml': {
    title: 'vmdhcp with bare-metal hosts: agents give them addresses and follow them, as ClusterAgents describe',
    set: ['bareMetal.enabled=true'],
  },
  'vmdhcp-ui.yaml': {
    title: 'vmdhcp with a read-only page, for kubectl port-forward',
    set: ['ui.enabled=true'],
  },
  'vmdhcp-openshift.yaml': {
    title:
      'What OpenShift needs beside any other file: SecurityContextConstraints for the agents of IPPools, and who may use them',
    set: ['openshift.enabled=true'],
    has: isOfOpenShift,
  },
  'vmdhcp-openshift-wake-on-lan.yaml': {
    title: 'What OpenShift needs for Wake-on-LAN, beside vmdhcp-openshift.yaml',
    set: ['openshift.enabled=true', 'wakeOnLan.enabled=true'],
    has: (document) => isOfOpenShift(document) && document.includes('vm-dhcp-wake-on-lan-agent'),
  },
  'vmdhcp-openshift-bare-metal.yaml': {
    title: 'What OpenShift needs for bare-metal hosts, beside vmdhcp-openshift.yaml',
    set: ['openshift.enabled=true', 'bareMetal.enabled=true'],
    has: (document) => isOfOpenShift(document) && document.includes('vm-dhcp-bare-metal-agent'),
  },
  'vmdhcp-openshift-olm.yaml': {
    title: 'What OpenShift needs before OLM installs the bundle, which says who may use these SecurityContextConstraints',
    set: ['openshift.enabled=true'],
    // What is in a namespace comes with the bundle.
    has: (document) => isOfOpenShift(document) && !document.includes('\n  namespace: '),
  },
};

const NAMESPACE = `---
apiVersion: v1
kind: Namespace
metadata:
  name: ${MANIFEST_NAMESPACE}
  labels:
    app.kubernetes.io/name: vmdhcp
    app.kubernetes.io/part-of: vmdhcp
    pod-security.kubernetes.io/enforce: restricted
`;
/** Labels of what Helm installed, which this is not. */
const OF_HELM = /^ +(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm;

/** A file of `manifests/`: the chart for `kubectl apply`, with the namespace of the release and without the hooks of Helm. @throws Error for another name. */
export function renderManifest(file: string): string {
  const manifest = MANIFESTS[file];
  if (manifest === undefined) throw new Error(`there is no manifest ${file}; there are ${Object.keys(MANIFESTS).join(', ')}`);
  const whole =
    '# It is a whole installation: upgrade it by the same file. Another file of this folder would switch its features off.\n';
  const head = `# ${manifest.title}: kubectl apply -f manifests/${file}
${manifest.has === undefined ? whole : ''}# Written by \`npm run generate\` from charts/vmdhcp: change that, not this file. Other values: docs/install.md.
`;
  const documents = render({ namespace: MANIFEST_NAMESPACE, set: manifest.set }).split(/^---\n/m);
  const { has } = manifest;
  const kept = documents.filter((one) => one !== '' && !one.includes('helm.sh/hook:') && (has?.(one) ?? true));
  const namespace = has === undefined ? NAMESPACE : '';
  return head + namespace + kept.map((one) => `---\n${one.replaceAll(OF_HELM, '')}`).join('');
}
