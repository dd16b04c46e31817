import { describeNames } from '@vmdhcp/kube-runtime';

/** One sentence for each interface that is named and not there, with those that are. */
export function describeMissingInterfaces(named: Iterable<string>, existing: readonly string[]): readonly string[] {
  return [...new Set(named)]
    .filter((name) => !existing.includes(name))
    .map(
      (name) =>
        `interface ${name} does not exist, so its pools are not served; there are ${describeNames(existing)}: create it, or name another one with --interface`,
    );
}
