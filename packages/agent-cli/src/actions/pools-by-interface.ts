import type { PoolsFile } from '@vmdhcp/bare-host-agent/pools-file';
import { describeNames } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

/**
 * Inverts the options: which pools an interface serves, by full names, in the order given.
 * @throws CommandError for a pool that the file does not have, or has in two namespaces.
 */
export function poolsByInterface(
  interfaces: ReadonlyMap<string, readonly string[]>,
  { pools }: Pick<PoolsFile, 'pools'>,
): Map<string, string[]> {
  const turned = new Map<string, string[]>();
  for (const [given, names] of interfaces) {
    const matching = [...pools.keys()].filter((pool) => pool === given || pool.endsWith(`/${given}`));
    const [pool] = matching;
    if (pool === undefined || matching.length > 1) {
      const what = pool === undefined ? 'there is no such pool' : `it could be ${matching.join(' or ')}`;
      throw new CommandError(
        `--interface ${given}=${names[0]}: ${what}; the file has ${describeNames([...pools.keys()])}`,
        ExitCode.usage,
      );
    }
    for (const name of names) turned.set(name, [...(turned.get(name) ?? []), pool]);
  }
  return turned;
}
