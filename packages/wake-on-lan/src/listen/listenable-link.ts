/** An interface of the host, as the kernel describes it. */
export interface ListenableLink {
  readonly interfaceName: string;
  /** Another interface of the same name has another index. */
  readonly interfaceIndex: number;
  readonly isUp: boolean;
  /** True: it sends Ethernet frames, and has a broadcast address. */
  readonly isEthernet: boolean;
  /** `bridge`, `bond`, `vlan`, `veth`, ...; undefined for one of hardware, and for `lo`. */
  readonly kind: string | undefined;
  /** The index of the bridge or bond that it is a port of. */
  readonly masterIndex: number | undefined;
}
