/** A pod of an agent for Wake-on-LAN: it hears magic packets of its node, and reports them. */
import { FakeProcess } from '@vmdhcp/dhcp-agent/testing';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import { encodeMagicPacket, ManagerReports, PacketHearing } from '@vmdhcp/wake-on-lan';
import type { ApiLink } from '../api/transport.js';
import type { PlantedFault } from '../planted-faults.js';
import type { Scheduler } from '../time/scheduler.js';
import { ManagerLine } from './manager-line.js';
import type { WakeManager } from './wake-manager.js';

export interface WakeAgentSettings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly linkOf: (node: string) => ApiLink;
  readonly managers: () => readonly WakeManager[];
  readonly fault: PlantedFault | undefined;
}

/** The default of `vmdhcp-agent wol`. */
const WINDOW_MS = 10_000;
const PAUSE_MS = 500;
const STARTED_MS = 500;

export class WakeAgentPod implements PodProcess {
  readonly name: string;
  readonly node: string;
  readonly process: FakeProcess;
  readonly ready: Promise<void>;
  readonly exited: Promise<number>;
  readonly #hearing = new PacketHearing({ machines: undefined, password: undefined, windowMs: WINDOW_MS });
  readonly #reports: ManagerReports;
  readonly #fault: WakeAgentSettings['fault'];
  #exit: (code: number) => void = () => undefined;
  #hasEnded = false;

  constructor(pod: Pod, { scheduler, random, linkOf, managers, fault }: WakeAgentSettings) {
    this.#fault = fault;
    this.name = pod.metadata.name ?? '';
    this.node = pod.spec.nodeName ?? '';
    this.process = new FakeProcess(scheduler);
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
    const link = linkOf(this.node);
    const { nowMs, after } = this.process;
    this.#reports = new ManagerReports(
      { nodeName: this.node, machines: undefined },
      {
        connect: (listeners) =>
          new ManagerLine({
            ...{ listeners, managers, random, process: this.process },
            isOpen: (node) => !link.isCut() && !linkOf(node).isCut(),
            latencyMs: link.latencyMs,
            isLost: () => link.loss() !== 'none',
          }),
        hearing: this.#hearing,
        logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
        ...{ nowMs, after },
        pauseMs: (failures) => Math.min(5_000, PAUSE_MS * failures) * (0.5 + random(500) / 1_000),
      },
    );
    void this.#reports.start();
    this.ready = new Promise((resolve) => void this.process.after(STARTED_MS, resolve));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @param gracePeriodSeconds - 0 for SIGKILL. */
  stop(gracePeriodSeconds: number): void {
    if (this.#hasEnded) return;
    if (gracePeriodSeconds === 0) this.#end(137);
    else void this.#reports.stop().then(() => this.#end(0));
  }

  /** Delivers a magic packet to the node. */
  hear(sent: string, sender: string): void {
    const macAddress = this.#fault?.magicPacket === undefined ? sent : this.#fault.magicPacket(sent);
    if (macAddress === undefined) return;
    this.process.deliver(() => {
      const payload = encodeMagicPacket({ macAddress });
      const heard = this.#hearing.hear(payload, () => sender, this.process.nowMs());
      if (heard.kind !== 'wake-up') return;
      const place = { interfaceName: 'eth0', way: 'udp', port: 9 } as const;
      const facts = { place, sender: { address: sender, port: 9 }, packetSize: payload.length, heardAtMs: Date.now() };
      this.#reports.wake({ sighting: heard.sighting, facts });
    });
  }

  #end(code: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.process.kill();
    this.#exit(code);
  }
}
