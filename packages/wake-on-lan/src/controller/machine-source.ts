import type { WakeMachine } from '../machine/wake-config.js';

/** The machines of the cluster, followed. `inventory` of the DhcpController is one: DHCP assigns addresses by the same MAC addresses. */
export interface MachineSource {
  /** True once machines, and what is remembered of stopped ones, are listed. Until then machines and addresses are missing. */
  readonly synced: boolean;
  /** In no order. */
  readonly machines: () => Iterable<WakeMachine>;
  /** The machine with the key `namespace/name`; undefined: there is none. The same object until it changes. */
  readonly get: (key: string) => WakeMachine | undefined;
  /**
   * Calls the listener with the key of each machine that is new or gone, or whose MAC addresses or labels changed; also before `synced`. It is
   * called in the midst of a change: it takes note of the key, and asks for the machine later.
   *
   * @returns what ends the calls.
   */
  readonly onChange: (listener: (key: string) => void) => () => void;
  /** Calls the listener once `synced` is true: at once if it is. @returns what ends that. */
  readonly onSynced: (listener: () => void) => () => void;
}
