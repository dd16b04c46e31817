/** What the controller waits for, and what it lacks but does not need. */
import type { CacheSubscription } from '@vmdhcp/kube-runtime';
import type { InstanceSource } from '../view/instance-source.js';
import type { MissingKinds } from '../view/missing-kinds.js';
import { CACHED_KINDS } from './by-kind.js';
import type { ByKind } from './controller-context.js';

export interface ReadinessFacts {
  readonly caches: ByKind<Pick<CacheSubscription, 'synced' | 'size'>>;
  readonly instances: Pick<InstanceSource, 'synced'>;
  /** Undefined if no agents are deployed. */
  readonly agents: { readonly synced: boolean } | undefined;
  readonly missingKinds: Pick<MissingKinds, 'has' | 'messages'>;
  readonly mayLackKinds: boolean;
}

/** Kinds that are not listed yet, including those of agents. A separate line says why a kind is missing. */
export function describeUnready(facts: ReadinessFacts): string[] {
  const { caches, instances, agents, missingKinds } = facts;
  const mayLack = mayLackMissing(facts);
  const kinds: string[] = CACHED_KINDS.filter((kind) => !caches[kind].synced && !(mayLack && missingKinds.has(kind)));
  if (!instances.synced) kinds.push('virtualMachineInstances');
  if (agents?.synced === false) kinds.push('agents');
  return kinds.length === 0 ? [] : [`not listed yet: ${kinds.join(', ')}`, ...(mayLack ? [] : missingKinds.messages)];
}

/** Missing kinds that nothing needs. */
export function describeLacks(facts: ReadinessFacts): readonly string[] {
  return mayLackMissing(facts) ? facts.missingKinds.messages : [];
}

/** These kinds are needed only if there are IPPools. */
function mayLackMissing({ caches: { ipPools }, mayLackKinds }: ReadinessFacts): boolean {
  return mayLackKinds && ipPools.synced && ipPools.size === 0;
}
