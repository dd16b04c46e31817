/** The options that every command of `kubectl vmdhcp` has, as kubectl spells them. */
import { Option } from 'commander';

export const readerOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig; default: what kubectl uses'),
  new Option('--context <name>', 'context of the kubeconfig; default: its current one'),
  new Option('-n, --namespace <namespace>', 'namespace; default: that of the context'),
];

/** Where the records of assignments are. */
export const auditNamespaceOption = (): Option =>
  new Option('--audit-namespace <namespace>', 'where the records are: the namespace of the agents').default('vm-dhcp-agents');
