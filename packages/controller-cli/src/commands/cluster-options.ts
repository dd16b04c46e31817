import { Option } from 'commander';

/** Which cluster a command works on. */
export const clusterOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig; default: the ServiceAccount in a pod, else what kubectl uses').env('KUBECONFIG'),
  new Option('--kubecontext <name>', 'context of the kubeconfig; default: its current one').env('KUBECONTEXT'),
];
