/** The links from a bare-metal host to its address, in order of cause and effect. */
export const HOST_LINKS = ['cluster-agent', 'host-agents', 'host-endpoint', 'lease', 'host', 'management-controller'] as const;
/** The name of a link of the way of a host. */
export type HostLinkName = (typeof HOST_LINKS)[number];
