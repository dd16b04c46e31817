/** The Lease by which replicas of the controller elect their leader; Harvester's controller uses the same one. */
export const CONTROLLER_LEASE = { namespace: 'kube-system', name: 'vm-dhcp-controllers' };
