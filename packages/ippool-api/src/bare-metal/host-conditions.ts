/** The meaning of each condition of the bare-metal kinds, by kind and type; CONDITIONS describes the other kinds. */
export const HOST_CONDITIONS = {
  ClusterAgent: {
    Ready: {
      True: 'As many agents run as there should be, and each of them is ready.',
      False: 'They do not; the reason has the cause.',
    },
    Valid: {
      True: 'Every setting can be used.',
      False: 'Some settings cannot be used; the message has each of them.',
    },
    RogueServer: {
      True: 'Another DHCP server answers on the management network; the message has its address.',
      False: 'The leader of the agents has looked for another DHCP server, and found none.',
    },
    SelfIpInUse: {
      True: 'Another host uses `selfIp`, so that the agent does not add it; the message has the MAC address of the host.',
      False: 'No other host answered for `selfIp` when the leader of the agents probed it.',
    },
    AddressesExhausted: {
      True: 'A client got no address, as none of `ipRange` was free, and none is free yet.',
      False: 'Addresses of `ipRange` are free.',
    },
    CannotServe: {
      True: 'The leader of the agents answers no client; the message has the cause.',
      False: 'The leader of the agents answers clients.',
    },
  },
} as const;
