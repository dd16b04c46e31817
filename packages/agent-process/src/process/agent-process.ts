/** What the process of every agent has beside the agent: its log, what it knows of its clients, its control socket, its memory. */
import { type AgentEvent, AgentTraffic, PacketCaptures, warmUpPacketPath } from '@vmdhcp/dhcp-agent/packet-path';
import type { Logger } from '@vmdhcp/service-process';
import { keepProgramPagesFew, separateLargeMemory, trimMemory } from '@vmdhcp/service-process/memory';
import { type AgentControlSettings, startAgentControl } from '../control/agent-control.js';
import { AgentLog } from '../log/agent-log.js';
import { LeaseEventLog } from '../log/lease-event-log.js';
import { PacketLog } from '../log/packet-log.js';

const HOUSEKEEPING_INTERVAL_MS = 1_000;

/** What the log and the metrics of an agent's process are made with. */
export interface AgentProcessSettings {
  readonly logger: Logger;
  /** True to log whole packets, unless a pool or the group's Lease specifies something else. */
  readonly logPackets: boolean;
  /** Called for every event, including those that are not logged. */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** What differs between agents once they run. */
export interface AgentDuties {
  readonly control: Omit<AgentControlSettings, 'logger' | 'traffic' | 'captures'>;
  /** Called every second. */
  readonly keepHouse?: () => void;
}

/** The process of one agent, whichever agent it is: `start` once the agent serves, `close` when it has stopped. */
export class AgentProcess {
  readonly logger: Logger;
  readonly leaseEvents: LeaseEventLog;
  readonly packetLog: PacketLog;
  readonly log: AgentLog;
  readonly traffic = new AgentTraffic({ nowMs: Date.now, random: Math.random });
  readonly captures = new PacketCaptures();
  #timer: NodeJS.Timeout | undefined;
  #control: { readonly close: () => void } | undefined;

  constructor({ logger, logPackets, onEvent }: AgentProcessSettings) {
    separateLargeMemory();
    const nowMs = () => performance.now();
    this.logger = logger;
    this.leaseEvents = new LeaseEventLog(logger, nowMs);
    this.packetLog = new PacketLog(logger, { packets: logPackets, nowMs });
    const { leaseEvents, packetLog } = this;
    this.log = new AgentLog({ logger, leaseEvents, packetLog, nowMs, ...(onEvent && { onEvent }) });
  }

  /** Compiles the path of a packet, so that the first client does not wait for it. */
  warmUp(): void {
    warmUpPacketPath({ octets: (length) => Buffer.alloc(length) });
  }

  /** Opens the control socket and begins housekeeping. Never rejects. */
  async start({ control, keepHouse }: AgentDuties): Promise<void> {
    const { logger, traffic, captures } = this;
    this.#control = await startAgentControl({ logger, traffic, captures, ...control });
    trimMemory();
    keepProgramPagesFew((error) => logger.warn({ err: error }, 'cannot return unused memory of the program'));
    this.#timer = setInterval(() => {
      this.leaseEvents.reportSuppressed();
      this.packetLog.reportSuppressed();
      keepHouse?.();
      trimMemory();
    }, HOUSEKEEPING_INTERVAL_MS);
  }

  /** Ends housekeeping. The control socket stays open while the agent stops. */
  stopHousekeeping(): void {
    clearInterval(this.#timer);
  }

  close(): void {
    this.stopHousekeeping();
    this.#control?.close();
  }
}
