/** A virtual machine and the MAC addresses of all its interfaces. */
export interface ListedMachine {
  readonly namespace: string;
  readonly name: string;
  /** The UID of its object in Kubernetes, where that is known. */
  readonly uid?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly macAddresses: readonly string[];
}

/**
 * The virtual machines of the cluster, and the MAC addresses of all their interfaces. A process has one inventory, that of the DhcpController, so
 * that DHCP uses the same MAC addresses. It contains labels if its caches were created with `trim: cachedPartsWith({ machineLabels: true })`.
 *
 * A running machine has the interfaces of its instance, any other those of its template. An interface without a known MAC address adds none.
 */
export interface MachineInventory {
  /** True once virtual machines, their instances and the memory of stopped ones are listed. Until then machines and addresses are missing. */
  readonly synced: boolean;
  /** In no order. */
  readonly machines: () => Iterable<ListedMachine>;
  /** The machine with the key `namespace/name`; undefined: there is none. The same object until it changes. */
  readonly get: (key: string) => ListedMachine | undefined;
  /**
   * Calls the listener with the key of each machine that is added, deleted, or whose MAC addresses or labels change; also before `synced`, but not
   * for machines that are already known. It is called during a change, so it should only note the key, and read the machine later.
   *
   * @returns a function that ends the calls.
   */
  readonly onChange: (listener: (key: string) => void) => () => void;
  /** Calls the listener once `synced` is true: at once if it is. @returns a function that cancels it. */
  readonly onSynced: (listener: () => void) => () => void;
}
