/**
 * IPv4 address allocation, leases and a DHCPv4 codec as pure functions: no sockets, no clock, no logger.
 *
 * @packageDocumentation
 */

export * from './address/index.js';
// Allocation and leases
export {
  AddressAllocator,
  type AllocationRefusal,
  type AllocationResult,
  mayBeKept,
  type PoolCounts,
} from './allocation/address-allocator.js';
// Bindings of unknown clients
export { type Binding, type BindingRecord, isBindingValid } from './binding/binding.js';
export {
  type BindingRecordFault,
  type BindingRecordReading,
  formatBindingRecord,
  parseBindingRecord,
} from './binding/binding-record.js';
export { BindingTable } from './binding/binding-table.js';
export type { Assignment, AssignmentChanges, Lease, LeaseChange } from './lease/lease.js';
export { LeaseIndex } from './lease/lease-index.js';
export { ConflictingAssignmentsError, LeaseTable } from './lease/lease-table.js';
export { answerOpenPacket, type NewStanding, type OpenServing, type RecordAnswer } from './open/answer-open-packet.js';
export { BindingRecorder, type BindingRecorderPorts } from './open/binding-recorder.js';
export type { BindingStore } from './open/binding-store.js';
export type { DeclaredAddress } from './open/leasable-records.js';
// Open pools
export { isProven, SHORT_LEASE_SECONDS } from './open/lease-times.js';
export { MOST_OFFERS, OFFER_MS } from './open/offers.js';
export {
  type LeaseToAdopt,
  OpenPool,
  type OpenPoolCounts,
  type WaitingDeclaration,
} from './open/open-pool.js';
// Options by name
export type { StaticRoute } from './options/classless-static-routes.js';
export type { AddressPair, OptionKind, SubOption, VendorInformation } from './options/option-kinds.js';
export {
  decodeOption,
  encodeOption,
  OPTIONS,
  type OptionName,
  type OptionValue,
  optionNameOf,
} from './options/option-registry.js';
// Pools
export { isHostName } from './pool/host-name.js';
export {
  type BootSettings,
  DEFAULT_DYNAMIC_LEASE_TIME_SECONDS,
  DEFAULT_LEASE_TIME_SECONDS,
  INFINITE_LEASE_TIME_SECONDS,
  MAX_RANGE_SIZE,
  type Pool,
  type PoolOptions,
  type Reservation,
} from './pool/pool.js';
export type {
  BootDefinition,
  OptionDefinition,
  PoolDefinition,
  PoolOptionsDefinition,
  ReservationDefinition,
  StaticRouteDefinition,
} from './pool/pool-definition.js';
export type { PoolProblemReason } from './pool/pool-problems.js';
export { validatePool } from './pool/validate-pool.js';
// Its quick path
export { answerPreparedAmong, type PreparedPool } from './prepared/answer-prepared-among.js';
export { PreparedAnswers, type PreparedReply } from './prepared/prepared-answers.js';
export { type Checked, describeProblem, formatPath, type Problem } from './problem.js';
// The server's decisions
export { type Answer, answerPacket, type DropReason, leaseExpiry, type ReplyAnswer } from './server/answer-packet.js';
export {
  type ClientMessage,
  type ClientMessageResult,
  type ClientMessageType,
  type NotForServersReason,
  toClientMessage,
} from './server/client-message.js';
export { decide } from './server/decide.js';
export type { Decision, IgnoreReason, KnownClient, NakReason } from './server/decision.js';
export { PACKET_REASONS, type PacketReason } from './server/packet-reasons.js';
export { poolOptionValues } from './server/pool-option-values.js';
export { type Reply, ReplyComposer } from './server/reply-composer.js';
export { CLIENT_PORT, type ReplyDestination, replyDestination, SERVER_PORT } from './server/reply-destination.js';
export { ServedPool, type Serving } from './server/served-pool.js';
export { shortenLease } from './server/shorten-lease.js';
// DHCPv4 codec
export { type DecodeResult, decodeMessage, type MalformedReason } from './wire/decode-message.js';
export type { DhcpMessage } from './wire/dhcp-message.js';
export { DhcpOptions } from './wire/dhcp-options.js';
export { type Encoded, type EncodeSettings, encodeMessage, type OutgoingMessage } from './wire/encode-message.js';
export { type MessageType, MessageTypeCode, messageTypeOf, OptionCode } from './wire/layout.js';
