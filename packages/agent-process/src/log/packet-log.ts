/**
 * Logs single packets, for all pools or for some of them: a summary line at `debug`, or the whole packet and its reply at `info`.
 * The setting can change at run time, and lines per second are limited for each pool.
 */

import { type LoggedPacket, type PacketLogPort, printable, RateBudget } from '@vmdhcp/dhcp-agent/packet-path';
import { type Answer, decodeMessage, formatIpv4Address, OptionCode } from '@vmdhcp/dhcp-allocator';
import type { AgentLogSettings } from '@vmdhcp/ippool-api/agent';
import type { Logger } from '@vmdhcp/service-process';
import { describeMessage, hex } from './describe-message.js';

/** The limit of lines about packets of one pool; the rest is counted. */
const BUDGET = { perSecond: 50, burst: 200 };

/** What is logged about the packets of one pool. */
interface PoolLog {
  readonly logger: Logger;
  readonly packets: boolean;
  readonly budget: RateBudget;
}

export class PacketLog implements PacketLogPort {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  /** The setting of the command line. */
  readonly #initial: Required<AgentLogSettings>;
  #general: Required<AgentLogSettings>;
  readonly #settingsOf = new Map<string, AgentLogSettings>();
  readonly #logs = new Map<string, PoolLog>();
  #isActive = false;

  /** @param packets - true to log whole packets until the setting is changed. */
  constructor(logger: Logger, { packets, nowMs }: { readonly packets: boolean; readonly nowMs: () => number }) {
    this.#logger = logger;
    this.#nowMs = nowMs;
    this.#initial = { level: logger.level as Required<AgentLogSettings>['level'], packets };
    this.#general = this.#initial;
    this.#onChange();
  }

  /** False if no packet is logged, so that `note` need not be called. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Sets the level of the whole log and whether packets are logged; omitted settings are those of the command line. */
  setGeneral(settings: AgentLogSettings): void {
    const { level, packets } = { ...this.#initial, ...settings };
    if (level === this.#general.level && packets === this.#general.packets) return;
    this.#general = { level, packets };
    this.#logger.level = this.#general.level;
    this.#onChange();
  }

  /** Sets what is logged about packets of one pool; omitted settings are the general ones. */
  setPool(poolName: string, settings: AgentLogSettings): void {
    const known = this.#settingsOf.get(poolName) ?? {};
    if (known.level === settings.level && known.packets === settings.packets) return;
    this.#settingsOf.set(poolName, settings);
    this.#onChange();
  }

  note(logged: LoggedPacket): void {
    const { answer, poolName = '' } = logged;
    const { logger, packets, budget } = this.#logOf(answer.kind === 'dropped' ? poolName : answer.pool.name);
    if (!logger.isLevelEnabled(packets ? 'info' : 'debug') || !budget.take(this.#nowMs())) return;
    if (packets) logger.info({ ...summary(logged), ...wholePackets(logged) }, `packet: ${outcome(logged)}`);
    else logger.debug(summary(logged), `packet: ${outcome(logged)}`);
  }

  /** Logs how many lines were omitted since the last call. Call it every second. */
  reportSuppressed(): void {
    for (const [pool, { budget, logger }] of this.#logs) {
      const suppressed = budget.takeSuppressed();
      if (suppressed > 0) logger.warn({ pool, suppressed }, 'too many packets: lines omitted from the log');
    }
  }

  #onChange(): void {
    this.#logs.clear();
    const all = [this.#general, ...[...this.#settingsOf.values()].map((settings) => ({ ...this.#general, ...settings }))];
    this.#isActive = all.some(({ level, packets }) => packets || level === 'debug' || level === 'trace');
  }

  #logOf(poolName: string): PoolLog {
    const known = this.#logs.get(poolName);
    if (known !== undefined) return known;
    const { level, packets } = { ...this.#general, ...this.#settingsOf.get(poolName) };
    const log = { logger: this.#logger.child({}, { level }), packets, budget: new RateBudget(BUDGET) };
    this.#logs.set(poolName, log);
    return log;
  }
}

function outcome({ answer, notSent }: LoggedPacket): string {
  if (answer.kind === 'dropped') return 'dropped';
  const { type } = answer.client;
  if (answer.kind === 'ignored') return `${type} ignored`;
  return notSent === undefined ? `${type} ${answer.decision.kind}` : `${type} ${answer.decision.kind} notSent`;
}

function summary({ answer, packet, interfaceName, poolName, notSent }: LoggedPacket): Readonly<Record<string, unknown>> {
  if (answer.kind === 'dropped') {
    return { interface: interfaceName, ...(poolName && { pool: poolName }), octets: packet.length, reason: answer.reason };
  }
  const { client, pool } = answer;
  return {
    interface: interfaceName,
    pool: pool.name,
    mac: client.macAddress,
    xid: client.message.xid.toString(16).padStart(8, '0'),
    ...textOption(answer, 'clientHostName', OptionCode.hostName),
    ...textOption(answer, 'vendorClass', OptionCode.vendorClass),
    ...(answer.kind === 'ignored' && { reason: answer.reason }),
    ...(notSent !== undefined && { reason: notSent }),
    ...(answer.kind === 'reply' && toReplySummary(answer)),
  };
}

function textOption(
  { client }: Exclude<Answer, { readonly kind: 'dropped' }>,
  name: string,
  code: number,
): Readonly<Record<string, string>> {
  const octets = client.message.options.get(code);
  return octets === undefined ? {} : { [name]: printable(octets) };
}

function toReplySummary({
  decision,
  omittedOptions,
  destination: { kind, address },
}: Extract<Answer, { readonly kind: 'reply' }>): Readonly<Record<string, unknown>> {
  return {
    ...('reason' in decision && { reason: decision.reason }),
    ...(omittedOptions.length > 0 && { omittedOptions }),
    to: `${kind} ${formatIpv4Address(address)}`,
  };
}

/** The request and the reply, field by field; octets if a packet is not a message. */
function wholePackets({ answer, packet }: LoggedPacket): Readonly<Record<string, unknown>> {
  const decoded = decodeMessage(packet);
  return {
    packet: decoded.ok ? describeMessage(decoded.message) : hex(packet),
    ...(answer.kind === 'reply' && { reply: describeBytes(answer.bytes) }),
  };
}

function describeBytes(bytes: Uint8Array): unknown {
  const decoded = decodeMessage(bytes);
  return decoded.ok ? describeMessage(decoded.message) : hex(bytes);
}
