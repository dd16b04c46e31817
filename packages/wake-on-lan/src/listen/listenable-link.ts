/** An interface of the host, as the kernel describes it. */
export interface ListenableLink {
  readonly interfaceName: string;
  /** Another interface with the same name has another index. */
  readonly interfaceIndex: number;
  readonly isUp: boolean;
  /** True if it sends Ethernet frames, and has a broadcast address. */
  readonly isEthernet: boolean;
  /** `bridge`, `bond`, `vlan`, `veth`, ...; undefined for hardware, and for `lo`. */
  readonly kind: string | undefined;
  /** The index of its bridge or bond, if it is a port of one. */
  readonly masterIndex: number | undefined;
}
