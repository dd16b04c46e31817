import type { Section, SectionAccess } from '../../model/page-data.js';

/** The text of a view without data: what is missing, and what to do. */
export interface SectionHelp {
  readonly title: string;
  readonly text: string;
  /** A command or setting to copy; empty for none. */
  readonly command: string;
}

const OFF: Readonly<Record<Section, SectionHelp>> = {
  pools: { title: 'No pools here', text: 'This server does not serve pools.', command: '' },
  machines: {
    title: 'Virtual machines are not known here',
    text: 'The agent of a bare host serves the clients of its pools file. A controller in a cluster knows virtual machines, and why one has no address.',
    command: '',
  },
  agents: {
    title: 'There is no election here',
    text: 'The agent of a bare host is alone. In a cluster, several agents elect a leader, and this view shows it over time.',
    command: '',
  },
  'wake-on-lan': {
    title: 'Wake-on-LAN is off',
    text: 'With it, a magic packet starts a virtual machine that is stopped. Switch it on in the chart, or start the controller with --wake-on-lan.',
    command: 'helm upgrade … --set wakeOnLan.enabled=true',
  },
  events: { title: 'No Events here', text: 'This server reads no Events.', command: '' },
  hosts: {
    title: 'Bare-metal hosts are off',
    text: 'With them, agents lease addresses to management controllers and follow them over Redfish. Switch them on in the chart, or start the controller with --bare-metal.',
    command: 'helm upgrade … --set bareMetal.enabled=true',
  },
};

/** Undefined if the section is shown. */
export function describeAccess(section: Section, access: SectionAccess): SectionHelp | undefined {
  switch (access.kind) {
    case 'shown':
      return undefined;
    case 'off':
      return OFF[section];
    case 'denied':
      return {
        title: 'You may not see this',
        text: `Your user lacks the right to ${access.right}. An administrator of the cluster grants it with a ClusterRole and a ClusterRoleBinding.`,
        command: '',
      };
  }
}
