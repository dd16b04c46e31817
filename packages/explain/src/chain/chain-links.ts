/** The links from a virtual machine to its address, in order. */
export const CHAIN_LINKS = [
  'virtual-machine',
  'controller',
  'interface',
  'network',
  'network-config',
  'pool',
  'address',
  'agents',
  'leader',
  'report',
  'packets',
  'instance',
] as const;
/** The name of a link of the way to an address. */
export type ChainLinkName = (typeof CHAIN_LINKS)[number];
