/**
 * Every reason of an Event about a bare-metal host; REASONS has those of the other kinds. Code that writes a reason which is not here, or writes it
 * in the wrong place, does not compile. The reference pages are generated from this table.
 */
import type { HOST_CONDITIONS } from './host-conditions.js';

type EventKind = 'ClusterAgent' | 'HostEndpoint' | 'HostOperation' | 'HostStatus';
type Status = 'True' | 'False' | 'Unknown';
/** `ClusterAgent Ready=False`: a condition with this status. */
type HostConditionPlace = `ClusterAgent ${keyof typeof HOST_CONDITIONS.ClusterAgent}=${Status}`;
/**
 * A condition, or `Warning Event on HostStatus`: an Event of this type about an object of this kind; or a reason that only `kubectl vmdhcp why`
 * finds, which looks at all objects on the way to an address.
 */
export type HostReasonPlace = HostConditionPlace | `${'Normal' | 'Warning'} Event on ${EventKind}` | 'kubectl vmdhcp why';

interface HostReasonEntry {
  readonly shown: readonly HostReasonPlace[];
  /** The meaning of the reason. The message of the Event adds the names. */
  readonly meaning: string;
  /** What an administrator does next. */
  readonly remedy: string;
}

/** Mistakes of a person in a ClusterAgent. */
const INVALID = ['ClusterAgent Valid=False', 'Warning Event on ClusterAgent'] as const;
const EXPLAINED = ['kubectl vmdhcp why'] as const;
/** Why no agents run, or too few. */
const UNREADY = ['ClusterAgent Ready=False', 'Warning Event on ClusterAgent'] as const;

/** Every reason about bare-metal hosts: where it is shown, what it means, and what to do. */
export const HOST_REASONS = {
  HostAgentsReady: {
    shown: ['ClusterAgent Ready=True'],
    meaning: 'As many agents run as there should be, and each of them is ready.',
    remedy: 'Nothing.',
  },
  HostAgentsStarting: {
    shown: ['ClusterAgent Ready=False'],
    meaning: 'The Deployment of the agents has fewer pods of its newest template that are ready than it should have.',
    remedy: 'Nothing: this takes seconds. If the reason stays, look at the pods of the Deployment that the message names.',
  },
  HostAgentsOff: {
    shown: ['ClusterAgent Ready=False'],
    meaning: '`spec.agentYaml.replicas` is 0: no agent runs.',
    remedy: 'Nothing. To have agents, set `spec.agentYaml.replicas` to 1 or more.',
  },
  HostAgentsStuck: {
    shown: UNREADY,
    meaning: 'The pods of the agents cannot be created, or do not become ready; the message has the cause.',
    remedy: 'Do what the message names.',
  },
  HostAgentsFailed: {
    shown: UNREADY,
    meaning: "An object that the agents need cannot be written; the message has the API server's text.",
    remedy: 'Correct what the message names: a field of the ClusterAgent, or the rights of the controller.',
  },
  HostAgentsRefused: {
    shown: UNREADY,
    meaning:
      'An object that the agents need has the name of one that the controller did not create for this ClusterAgent, or one that cannot be changed as it should be; or the ClusterRoleBinding of the chart, by which agents have rights, does not exist.',
    remedy: 'Do what the message names: delete the object, create the ClusterAgent with another name, or upgrade the chart.',
  },
  ClusterAgentInvalid: {
    shown: [...INVALID, 'ClusterAgent Ready=False'],
    meaning:
      'The ClusterAgent has settings that cannot be used. Agents that run already stay as they are, and serve no DHCP that the settings do not allow.',
    remedy: 'Correct the fields that the message names.',
  },
  UnderlayShared: {
    shown: [...INVALID, 'ClusterAgent Ready=False'],
    meaning:
      'An older ClusterAgent is on the same network, and has the same `selfIp` or addresses of the same range. That one goes on; this one has no agents.',
    remedy: 'Give the two ClusterAgents ranges and addresses that differ, or delete one of them.',
  },
  OneAgentOnly: {
    shown: INVALID,
    meaning:
      'More than one agent is asked for where only one can run: leases are in a volume that has one writer, or the port and the node are the same for all. One agent runs.',
    remedy: 'Set `spec.agentYaml.replicas` to 1, or do what the message names.',
  },
  HostSecretUnusable: {
    shown: [...INVALID, 'Warning Event on HostEndpoint'],
    meaning:
      'A Secret for management controllers is not named although `https` is true, does not exist, lacks keys or the label `bmc.spidernet.io/host-credentials=true`, or is in a namespace from which agents may read none.',
    remedy:
      'Name, correct or label the Secret, or allow its namespace: `bareMetal.secretNamespaces` of the chart, `--bare-metal-secret-namespace` of the controller.',
  },
  OtherServerAnswers: {
    shown: ['ClusterAgent RogueServer=True'],
    meaning:
      'Another DHCP server answers on the management network; the message has its address and MAC address. Clients are answered all the same, and may get an address from either.',
    remedy: 'Switch that DHCP server off. While you migrate it may be the server from before, such as dhcpd.',
  },
  SelfIpInUse: {
    shown: ['ClusterAgent SelfIpInUse=True'],
    meaning:
      'Another host uses `selfIp`; the message has its MAC address. The agent does not add the address, and no client is answered.',
    remedy:
      'Remove the address from that host, or set another `selfIp`. The agent goes on by itself. While you migrate it may be the host of the DHCP server from before.',
  },
  AddressesExhausted: {
    shown: ['ClusterAgent AddressesExhausted=True', 'Warning Event on ClusterAgent'],
    meaning:
      'A client asked for an address, and none of `ipRange` was free; the message has how many are leased, bound and in conflict. One Event in ten minutes at most.',
    remedy:
      'Widen `ipRange`, or free addresses of hosts that are gone: `vmdhcp-agent release ADDRESS`, `vmdhcp-agent unbind ADDRESS` where one is bound, or delete their HostEndpoints.',
  },
  HostAgentCannotServe: {
    shown: ['ClusterAgent CannotServe=True'],
    meaning:
      'The leader of the agents answers no client: its interface is down or missing, its leases cannot be opened or recorded, or `selfIp` cannot be added. The message has each cause. A leader of several agents lets another one lead.',
    remedy: 'Do what the message names. The agent goes on by itself.',
  },
  HostDiscovered: {
    shown: ['Normal Event on HostStatus'],
    meaning: 'An unknown client got a lease, so the host has an object.',
    remedy: 'Nothing.',
  },
  HostEndpointAdded: {
    shown: ['Normal Event on HostStatus'],
    meaning: 'A HostEndpoint names the host, so the host has an object.',
    remedy: 'Nothing.',
  },
  HostEndpointAdopted: {
    shown: ['Normal Event on HostStatus'],
    meaning: 'A HostEndpoint names an address that was learned from a lease: the object belongs to the HostEndpoint now.',
    remedy: 'Nothing. If the host still gets its address by DHCP, configure the address in the host.',
  },
  MacAddressChanged: {
    shown: ['Warning Event on HostStatus'],
    meaning: 'Another client has the lease of the address now; the message has both MAC addresses.',
    remedy: 'Nothing if the network card or the machine was replaced. Else find out which machine has that MAC address.',
  },
  LeaseEnded: {
    shown: ['Normal Event on HostStatus', 'Normal Event on ClusterAgent', ...EXPLAINED],
    meaning:
      'The client released its lease, `vmdhcp-agent release` ended it, or it expired. The object stays if the address is bound, and is deleted if not.',
    remedy: 'Nothing if the host was switched off. Else look at its network.',
  },
  LeaseKept: {
    shown: ['Warning Event on HostStatus'],
    meaning:
      'The lease was to end (`vmdhcp-agent release`), and its host still answers ARP, or could not be probed, or the time in the annotation is more than a minute ahead of the clock of the agent: the lease stays. The message has which.',
    remedy:
      'Switch the host off or unplug it, or set the clock, as the message has it; then run `vmdhcp-agent release ADDRESS` again.',
  },
  LeaseReturned: {
    shown: ['Normal Event on HostStatus'],
    meaning: 'The client of a bound address has a lease again.',
    remedy: 'Nothing.',
  },
  HostStatusCorrected: {
    shown: ['Normal Event on HostStatus'],
    meaning:
      'The object differed from the lease or the HostEndpoint of the host, because a setting changed, a person edited it, or an agent ended while it wrote; the message has the fields.',
    remedy: 'Nothing. Settings of a host are in the ClusterAgent and in the HostEndpoint.',
  },
  HostHealthy: {
    shown: ['Normal Event on HostStatus'],
    meaning: 'The management controller of the host answers.',
    remedy: 'Nothing.',
  },
  HostUnhealthy: {
    shown: ['Warning Event on HostStatus', ...EXPLAINED],
    meaning: 'The management controller of the host does not answer as it should; the message has the cause.',
    remedy: 'Do what the message names. Look at the address, the port, the certificate and the Secret of the host.',
  },
  BMCLogEntry: {
    shown: ['Normal Event on HostStatus', 'Warning Event on HostStatus'],
    meaning: 'The management controller has a new entry in its log. Warning: its severity is not `OK`.',
    remedy: 'Read the message.',
  },
  BindingUnreadable: {
    shown: ['Warning Event on HostStatus'],
    meaning: 'The annotation `bmc.spidernet.io/bound-to` is neither a MAC address nor `none`. It is ignored.',
    remedy: 'Correct the annotation, or remove it.',
  },
  BoundElsewhere: {
    shown: ['Warning Event on HostStatus'],
    meaning: 'The client has another address that is bound to it: a DHCP server gives a client one bound address.',
    remedy: 'Set `bmc.spidernet.io/bound-to` of one of the two objects to `none`.',
  },
  BoundAddressInUse: {
    shown: ['Warning Event on HostStatus'],
    meaning: 'Another client has the lease of an address that is bound.',
    remedy:
      'Nothing: when its client asks and the host of that lease does not answer ARP, the client gets the address. To keep it where it is, change the annotation.',
  },
  HostEndpointInvalid: {
    shown: ['Warning Event on HostEndpoint'],
    meaning: 'The HostEndpoint has a setting that cannot be used, so its host has no object; the message has the setting.',
    remedy: 'Delete the HostEndpoint, and create it again with what the message names.',
  },
  HostEndpointAddressTaken: {
    shown: ['Warning Event on HostEndpoint'],
    meaning: 'An older HostEndpoint has the same address, so this one has no object.',
    remedy: 'Delete one of the two.',
  },
  ClusterAgentMissing: {
    shown: ['Warning Event on HostEndpoint', ...EXPLAINED],
    meaning: 'The HostEndpoint or the HostStatus names no ClusterAgent, or one that does not exist.',
    remedy: 'Create the ClusterAgent, or delete the HostEndpoint and create it again with `spec.clusterAgent`.',
  },
  HostStatusNameTaken: {
    shown: ['Warning Event on HostEndpoint', 'Warning Event on ClusterAgent'],
    meaning: 'The object of a host would have the name of an object that belongs to another owner.',
    remedy: 'Delete the object that the message names.',
  },
  HostAgentsNotLeading: {
    shown: EXPLAINED,
    meaning: 'No agent of the ClusterAgent renews its Lease: no client gets an address, and no host is polled.',
    remedy: 'Look at the pods of the agents: `kubectl get pods -A -l bmc.spidernet.io/cluster-agent=NAME`.',
  },
  HostStatusPending: {
    shown: EXPLAINED,
    meaning: 'The HostEndpoint has no HostStatus yet.',
    remedy: 'Nothing: this takes a moment. If the reason stays, look at the agents of its ClusterAgent.',
  },
  HostAddressFree: {
    shown: EXPLAINED,
    meaning: 'The address is of a management network, and no host has it.',
    remedy:
      'Nothing. If a host should have it, switch the host on and look whether its messages arrive: the log of the agent has each client that asks.',
  },
  OperationSucceeded: {
    shown: ['Normal Event on HostOperation'],
    meaning: 'The management controller accepted the action.',
    remedy: 'Nothing.',
  },
  OperationFailed: {
    shown: ['Warning Event on HostOperation'],
    meaning: 'The action was not carried out, or it is not known whether it was; the message has which.',
    remedy: 'Look at the power state of the host. To try again, create another HostOperation.',
  },
} as const satisfies Readonly<Record<string, HostReasonEntry>>;

/** Every reason of the table. */
export type HostReason = keyof typeof HOST_REASONS;

/** The reasons that are allowed in a place. */
export type HostReasonAt<Place extends HostReasonPlace> = {
  [Name in HostReason]: Place extends (typeof HOST_REASONS)[Name]['shown'][number] ? Name : never;
}[HostReason];

/** An Event about an object of one kind, with its allowed reasons. */
export type HostEventOf<Kind extends EventKind> = {
  [Type in 'Normal' | 'Warning']: {
    readonly type: Type;
    readonly reason: HostReasonAt<`${Type} Event on ${Kind}`>;
    /** What happened, where, and what to do next. */
    readonly message: string;
  };
}['Normal' | 'Warning'];

/** A condition of a kind, with the reasons that the table has for its type and status. */
export type HostConditionOf<Kind extends 'ClusterAgent'> = {
  [Place in Extract<HostReasonPlace, `${Kind} ${string}`>]: Place extends `${Kind} ${infer Type}=${infer State extends Status}`
    ? {
        readonly type: Type;
        readonly status: State;
        /** Absent if all is well. */
        readonly reason?: HostReasonAt<Place>;
        /** What is wrong, where, and what to do next. */
        readonly message?: string;
      }
    : never;
}[Extract<HostReasonPlace, `${Kind} ${string}`>];
