/** A virtual machine and the MAC addresses of all its interfaces. */
export interface ListedMachine {
  readonly namespace: string;
  readonly name: string;
  /** Of its object in Kubernetes, where that is known. */
  readonly uid?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly macAddresses: readonly string[];
}

/**
 * The virtual machines of the cluster, and the MAC addresses of all their interfaces. There is one in a process, `inventory` of the
 * DhcpController (labels are in it where its caches were made with `trim: cachedPartsWith({ machineLabels: true })`): DHCP assigns addresses by the same MAC addresses.
 *
 * A machine that runs has the interfaces of its instance, else those of its template. An interface without a known MAC address adds none.
 */
export interface MachineInventory {
  /** True once virtual machines, their instances and what is remembered of stopped ones are listed. Until then machines and addresses are missing. */
  readonly synced: boolean;
  /** In no order. */
  readonly machines: () => Iterable<ListedMachine>;
  /** The machine with the key `namespace/name`; undefined: there is none. The same object until it changes. */
  readonly get: (key: string) => ListedMachine | undefined;
  /**
   * Calls the listener with the key of each machine that is new or gone, or whose MAC addresses or labels changed; also before `synced`, and
   * not for what is known already. It is called in the midst of a change: it takes note of the key, and asks for the machine.
   *
   * @returns what ends the calls.
   */
  readonly onChange: (listener: (key: string) => void) => () => void;
  /** Calls the listener once `synced` is true: at once if it is. @returns what ends that. */
  readonly onSynced: (listener: () => void) => () => void;
}
