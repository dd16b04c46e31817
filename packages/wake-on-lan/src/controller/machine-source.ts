import type { WakeMachine } from '../machine/wake-config.js';

/**
 * Follows the machines of the cluster. `inventory` of the DhcpController is one: DHCP assigns addresses by the same MAC
 * addresses.
 */
export interface MachineSource {
  /** True once machines, and the memory of stopped ones, are listed. Until then, machines and addresses are missing. */
  readonly synced: boolean;
  /** In no order. */
  readonly machines: () => Iterable<WakeMachine>;
  /** The machine with the key `namespace/name`; undefined if there is none. Returns the same object until it changes. */
  readonly get: (key: string) => WakeMachine | undefined;
  /**
   * Calls the listener with the key of each machine that is new or gone, or whose MAC addresses or labels changed; also before
   * `synced`. It is called in the middle of a change: it should note the key, and look up the machine later.
   *
   * @returns a function that ends the calls.
   */
  readonly onChange: (listener: (key: string) => void) => () => void;
  /** Calls the listener once `synced` is true: at once if it is. @returns a function that ends that. */
  readonly onSynced: (listener: () => void) => () => void;
}
