/**
 * Wake-on-LAN as pure functions: magic packets, frames and SecureOn passwords, repeated wake-ups, which machine may be woken, and what waking
 * it means.
 *
 * @packageDocumentation
 */
export { type ChosenInterfaces, chooseInterfaces } from './listen/choose-interfaces.js';
export { type HeardPacket, type HearingSettings, type IgnoredReason, PacketHearing } from './listen/hear-packet.js';
export type { ListenableLink } from './listen/listenable-link.js';
export {
  describePlace,
  type ListeningEvent,
  type ListeningPlace,
  type ListeningPorts,
  type MagicPacketSender,
  type PayloadHandler,
  type WakeSocket,
} from './listen/listening-ports.js';
export { WakeListeners, type WakeListenersSettings } from './listen/wake-listeners.js';
export type { LabelRequirement, LabelSelector } from './machine/label-selector.js';
export {
  type InstanceState,
  type MachineState,
  type NoActionReason,
  planWakeUp,
  type RunStrategy,
  type WakeUpAction,
  type WakeUpPolicy,
  type WakeUpRefusalReason,
} from './machine/plan-wake-up.js';
export {
  type ExplicitMapping,
  type MachineKey,
  machineKey,
  type WakeConfig,
  type WakeMachine,
  wakeConfigProblems,
} from './machine/wake-config.js';
export {
  type AllowedMachine,
  type DuplicateAddress,
  type PacketTarget,
  WakeIndex,
  type WakeTarget,
  wakeable,
} from './machine/wakeable.js';
export { type DecodedMagicPacket, decodeMagicPacket, type NotMagicReason } from './packet/decode-magic-packet.js';
export { encodeMagicPacket } from './packet/encode-magic-packet.js';
export { MAGIC_PACKET_LENGTH, type MagicPacket } from './packet/magic-packet.js';
export { isSamePassword, parseSecureOnPassword, type SecureOnPassword } from './packet/secure-on-password.js';
export {
  type DecodedWakeFrame,
  decodeWakeFrame,
  ETHERTYPE_WAKE_ON_LAN,
  encodeWakeFrame,
  type NotWakeFrameReason,
  type WakeFrame,
} from './packet/wake-frame.js';
export type { LogLine } from './report/describe-client-event.js';
export type { DeliveryOutcome, ManagerClient, ManagerListeners, ManagerState } from './report/manager-client.js';
export { ManagerReports, type ManagerReportsPorts, type ManagerReportsSettings } from './report/manager-reports.js';
export type { PacketFacts, PacketWakeUp, WakeUpEnds } from './report/packet-wake-up.js';
export {
  type GivenUpReason,
  type HeardWakeUp,
  type ReportDelivery,
  type ReportEnd,
  type ReportPorts,
  ReportQueue,
  type ReportQueueSettings,
} from './report/report-queue.js';
export {
  type ReportOutcome,
  WAKE_STATUSES,
  type WakeAnswer,
  type WakeReport,
  type WakeStatus,
  type WokenMachine,
} from './report/wake-report.js';
export type { WolClientEvent } from './report/wol-client-event.js';
export { type RateDecision, RateLimit, type RateLimitSettings } from './window/rate-limit.js';
export {
  type SeenWakeUp,
  type Sighting,
  WakeUpWindow,
  type WakeUpWindowSettings,
} from './window/wake-up-window.js';
