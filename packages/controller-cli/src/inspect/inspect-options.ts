/** The options that every command of `kubectl vmdhcp` has, as kubectl spells them. */
import { Option } from 'commander';

export interface ReaderOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

export const readerOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig; default: what kubectl uses'),
  new Option('--context <name>', 'context of the kubeconfig; default: its current one'),
  new Option('-n, --namespace <namespace>', 'namespace; default: that of the context'),
];
