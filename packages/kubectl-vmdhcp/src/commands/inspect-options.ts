/** The options of every command of `kubectl vmdhcp`, spelled as in kubectl. */
import { Option } from 'commander';

export const readerOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig; default: what kubectl uses'),
  new Option('--context <name>', 'context of the kubeconfig; default: its current one'),
  new Option('-n, --namespace <namespace>', 'namespace; default: that of the context'),
];

/** The namespace of the records of assignments. */
export const auditNamespaceOption = (): Option =>
  new Option('--audit-namespace <namespace>', 'where the records are: the namespace of the agents').default('vm-dhcp-agents');
