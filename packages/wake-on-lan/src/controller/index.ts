/**
 * Wake-on-LAN in a cluster: WolConfigs, the agents that listen for them, which machines may be woken, and the decision about each
 * wake-up that an agent reports.
 *
 * @packageDocumentation
 */
export {
  type ConfigAgents,
  planWakeAgents,
  type WakeAgentsObservation,
  type WakeAgentsPlan,
} from '../agents/plan-wake-agents.js';
export { WAKE_AGENT_SELECTOR, type WakeDaemonSetSettings, wakeAgentName } from '../agents/wake-agent-daemon-set.js';
export { type ReadWolConfig, readWolConfig, type WakeAgentSpec, type WolConfigReading } from '../config/read-wol-config.js';
export { type ConfigListening, describePortConflict, type PortConflict, sharePorts } from '../config/share-ports.js';
export { unsecuredBy } from '../config/unsecured-by.js';
export { describeWolConfigProblem, type WolConfigProblem } from '../config/wol-config-problem.js';
export { kubevirtRequests, type ReadStatus } from '../decision/kubevirt-requests.js';
export { WakeDecider } from '../decision/wake-decider.js';
export type {
  CallFailure,
  CallResult,
  DecidedReport,
  LiveMachine,
  LiveRead,
  WakeObserver,
  WakePorts,
} from '../decision/wake-ports.js';
export { ruleOf, type WakeOutcome, type WakeReason, type WakeVerdict } from '../decision/wake-verdict.js';
export type { MachineSource } from './machine-source.js';
export {
  WakeOnLanController,
  type WakeOnLanControllerSettings,
  type WakeOnLanKey,
  type WakeOnLanKind,
  type WakeOnLanObserver,
} from './wake-on-lan-controller.js';
export type { FollowedAddresses, WakeableMachines } from './wakeable-machines.js';
