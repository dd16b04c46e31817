/**
 * Reads what explains a cluster: its objects, and the replies of agents in their pods.
 *
 * @packageDocumentation
 */

export { execInPod, type RunningCommand } from '../pod-exec/exec-in-pod.js';
export { PodExecError, type PodName } from '../pod-exec/pod-exec-error.js';
export { inAgentContainer } from './agent-container.js';
export { AgentsTrust } from './agents-trust.js';
export { type AskedAgent, askAgent, describeAgentFailure } from './ask-agent.js';
export { ClusterReader, type ListResult, type ReaderOptions, toCommandError } from './cluster-reader.js';
export { type FoundClient, findClient } from './find-client.js';
export { findLeaders, findLeadersOf } from './find-leaders.js';
export type { Leader } from './leader.js';
export type { Column, ListedBeside, ListedKind } from './listed-kind.js';
export { rowsOf, sortRows } from './listed-rows.js';
export { mapBounded } from './map-bounded.js';
export { type MachineName, observeChain, observeWay } from './observe-chain.js';
export { type ObservedHosts, observeHosts } from './observe-hosts.js';
export { NoPcapngError, PcapngBlocks } from './pcapng-blocks.js';
export { currentRecords, describeNoRecords, readAudit } from './read-audit.js';
export { untilNext } from './until-next.js';
export { watchAnswers } from './watch-answers.js';
export { type RowPrinter, watchRows } from './watch-rows.js';
