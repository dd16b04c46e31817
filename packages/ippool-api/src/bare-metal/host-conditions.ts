/** What each condition of the kinds of bare-metal hosts means, by kind and type, as CONDITIONS has those of the other kinds. */
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
  },
} as const;
