import { render } from './render-chart.js';

/** Where `manifests/vmdhcp.yaml` installs the controller. */
export const MANIFEST_NAMESPACE = 'vm-dhcp-system';

const HEAD = `# vmdhcp with the default values of its chart: kubectl apply -f manifests/vmdhcp.yaml
# Written by \`npm run generate\` from charts/vmdhcp: change that, not this file. Other values: docs/install.md.
---
apiVersion: v1
kind: Namespace
metadata:
  name: ${MANIFEST_NAMESPACE}
  labels:
    app.kubernetes.io/name: vmdhcp
    pod-security.kubernetes.io/enforce: restricted
`;
/** Labels of what Helm installed, which this is not. */
const OF_HELM = /^ +(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm;

/** The chart with its default values, as one file for `kubectl apply`, with the namespace of the release and without the hooks of Helm. */
export function renderManifest(): string {
  const documents = render({ namespace: MANIFEST_NAMESPACE }).split(/^---\n/m);
  return (
    HEAD +
    documents
      .filter((one) => one !== '' && !one.includes('helm.sh/hook:'))
      .map(toText)
      .join('')
  );
}

function toText(document: string): string {
  return `---\n${document.replaceAll(OF_HELM, '')}`;
}
