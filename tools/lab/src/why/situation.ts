import type { WhyCluster } from './why-cluster.js';

/** A problem in a cluster, and the reasons that `kubectl vmdhcp why` gives for it. */
export interface Situation {
  /** Name of a virtual machine, `namespace/name`, or an address. */
  readonly ask: string;
  readonly reasons: readonly string[];
  /** Other reasons that come with it; the answer may mark one of them as broken. */
  readonly beside?: readonly string[];
  /** Reasons that are only notes here, whatever they are elsewhere. */
  readonly notes?: readonly string[];
  /** Undefined if the problem is there from the beginning. */
  readonly make?: (cluster: WhyCluster) => Promise<void>;
  /** True: it is made before the controller starts. */
  readonly isEarly?: true;
  /** The kubeconfig of the user who asks; the administrator's by default. */
  readonly kubeconfig?: (cluster: WhyCluster) => Promise<string>;
}
