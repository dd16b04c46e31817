import { Command } from 'commander';
import type { CheckPoolsFileOptions } from '../actions/check-pools-file.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent check pools.yaml
  vmdhcp-agent check pools.yaml --json | jq '.problems[].message'

Every problem is printed, with line and column. Problems are also: an unknown field that looks like a misspelling of a known one, as the
setting that was meant would be left out; and a claim that cannot be met (a MAC address or an IP address that two claim, an address
outside the pool, a pool that is too small). "serve" starts with claims that cannot be met, logs them, and serves the others.

Other unknown fields are warnings, as files may come from a cluster of another version, and so is a network without a pool.

Exit codes: 0 the file can be served and every claim can be met, 65 it has problems, 66 it cannot be read.
Warnings do not change the exit code.
`;

/** `vmdhcp-agent check FILE` */
export function checkCommand(): Command {
  return new Command('check')
    .description('List every problem of a pools file, or what would be served.')
    .argument('<file>', 'YAML file of IPPool and VirtualMachineNetworkConfig objects')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, options: CheckPoolsFileOptions) =>
      (await import('../actions/check-pools-file.js')).checkPoolsFile(path, options),
    );
}
