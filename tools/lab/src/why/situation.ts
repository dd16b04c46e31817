import type { WhyCluster } from './why-cluster.js';

/** What is wrong in a cluster, and the reasons that `kubectl vmdhcp why` has for it. */
export interface Situation {
  /** Name of a virtual machine, `namespace/name`, or an address. */
  readonly ask: string;
  readonly reasons: readonly string[];
  /** Others that come with it, and may be what is marked as broken. */
  readonly beside?: readonly string[];
  /** Those that are notes here, whatever they are elsewhere. */
  readonly notes?: readonly string[];
  /** Undefined: it is there. */
  readonly make?: (cluster: WhyCluster) => Promise<void>;
  /** True: it is made before the controller starts. */
  readonly isEarly?: true;
  /** Of who asks: an administrator asks otherwise. */
  readonly kubeconfig?: (cluster: WhyCluster) => Promise<string>;
}
