import { describeProblems } from '@vmdhcp/kube-runtime';
import type { InterfaceState } from './interface-socket.js';

/** Why a pool is not served, for a person. */
export interface UnservedPool {
  readonly pool: string;
  readonly reason: string;
}

/** Which pools are wanted, and the state of their interfaces. */
export interface ServingFacts {
  /** Pools that are configured and not paused, or that have an interface. */
  readonly wanted: Iterable<string>;
  /** Pools whose assignments are recorded and in the server. */
  readonly planned: ReadonlySet<string>;
  readonly paused: ReadonlySet<string>;
  /** Pool to its interfaces. */
  readonly interfacesOf: ReadonlyMap<string, readonly string[]>;
  readonly stateOf: (interfaceName: string) => InterfaceState;
}

/** The pools that are not served, each with its reason. Empty if the agent is ready. */
export function unservedPools(facts: ServingFacts): UnservedPool[] {
  return [...facts.wanted].flatMap((pool) => {
    const reason = whyUnserved(pool, facts);
    return reason === undefined ? [] : [{ pool, reason }];
  });
}

function whyUnserved(pool: string, { planned, paused, interfacesOf, stateOf }: ServingFacts): string | undefined {
  if (paused.has(pool)) return undefined;
  if (!planned.has(pool)) return 'it is not in the pools file, or its leases are not recorded yet';
  const interfaces = interfacesOf.get(pool) ?? [];
  if (interfaces.length === 0) return `no interface: give --interface ${pool}=IFACE`;
  const reasons = interfaces.flatMap((name) => whyNotServing(name, stateOf(name)) ?? []);
  return reasons.length === 0 ? undefined : describeProblems(reasons);
}

function whyNotServing(name: string, state: InterfaceState): string | undefined {
  switch (state.kind) {
    case 'serving':
      return undefined;
    case 'opening':
      return `interface ${name} is being opened`;
    case 'missing':
      return `interface ${name} is missing`;
    case 'failed':
      return state.message;
  }
}
