/**
 * Readers of objects that never throw, and what a network config should be: for those who explain a cluster and change nothing.
 *
 * @packageDocumentation
 */
export { groupOfDeployment } from '../agents/topology.js';
export { sentenceOf } from '../explanation.js';
export { describePlacement, readNetworkPlacement } from '../network/network-placement.js';
export { networkOfPool } from '../network/network-problem.js';
export { readInterfaceEntry } from '../network-config/interface-claims.js';
export { describeMissingVirtualMachine } from '../network-config/missing-virtual-machine.js';
export { readQuarantines } from '../pool/quarantines.js';
export { readLeavingNetworks } from '../virtual-machine/leaving-networks.js';
export { planNetworkConfig } from '../virtual-machine/plan-network-config.js';
export { type ReachableInterfaces, type ReachProblem, reachableInterfaces } from '../virtual-machine/reachable-interfaces.js';
export { type RememberedInterfaces, readRememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';
export { hasUnseenInstance, readRunningInstance } from '../virtual-machine/running-instance.js';
export type { VirtualMachineProblem, WrittenProblem } from '../virtual-machine/virtual-machine-problem.js';
export { virtualMachineNamedBy } from '../virtual-machine/vm-name.js';
export type { WantedInterfaces } from '../virtual-machine/wanted-interfaces.js';
