/** The leader of a group of agents, by its Lease. */
export interface Leader {
  readonly namespace: string;
  /** The name of the Lease. */
  readonly group: string;
  /** Undefined: no pod renews the Lease. */
  readonly pod: string | undefined;
  /** `namespace/name` of the pools that it reports. */
  readonly pools: readonly string[];
}
