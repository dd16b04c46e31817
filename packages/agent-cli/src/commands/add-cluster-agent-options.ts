import { type Command, Option } from 'commander';

interface ClusterAgentOptionTexts {
  /** What the command does with the leases of the ClusterAgent. */
  readonly description: string;
  /** Options that name another place of leases, as commander spells them. */
  readonly conflicts: readonly string[];
}

/** `--cluster-agent`, and the options to reach its cluster. */
export function addClusterAgentOptions(command: Command, { description, conflicts }: ClusterAgentOptionTexts): Command {
  return command
    .addOption(new Option('--cluster-agent <name>', description).conflicts([...conflicts]))
    .addOption(new Option('--namespace <name>', 'with --cluster-agent: the namespace of the agents').env('POD_NAMESPACE'))
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'with --cluster-agent: kubeconfig; default: $HOME/.kube/config, or the ServiceAccount of the pod',
      ).env('KUBECONFIG'),
    )
    .addOption(new Option('--kubecontext <name>', 'context of the kubeconfig').env('KUBECONTEXT'));
}
