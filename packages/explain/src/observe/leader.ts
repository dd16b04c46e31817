/** The leader of a group of agents, from its Lease. */
export interface Leader {
  readonly namespace: string;
  /** The name of the Lease. */
  readonly group: string;
  /** Undefined if no pod renews the Lease. */
  readonly pod: string | undefined;
  /** `namespace/name` of the pools in its report. */
  readonly pools: readonly string[];
}
