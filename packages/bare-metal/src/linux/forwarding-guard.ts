/** Keeps machines of the management network from using the pod of the agent as a router. Only where the pod has a network of its own: on that of the node, forwarding is the node's. */
import type { Logger } from '@vmdhcp/service-process';

export interface ForwardingGuardPorts {
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** 0: there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Returns what was not as it should be. @throws Error */
  readonly stopForwarding: (link: { readonly interfaceName: string; readonly interfaceIndex: number }) => readonly string[];
}

export class ForwardingGuard {
  readonly #ports: ForwardingGuardPorts;
  /** The interface that was guarded last, by its index, and why it could not be. */
  #index = 0;
  #problem: string | undefined;

  constructor(ports: ForwardingGuardPorts) {
    this.#ports = ports;
  }

  /** To be called every second; never throws. @param interfaceName - that leads to the management network; undefined: none does. */
  check(interfaceName: string | undefined): void {
    const interfaceIndex = interfaceName === undefined ? 0 : this.#ports.indexOf(interfaceName);
    if (interfaceName === undefined || interfaceIndex === 0) return;
    const isNew = interfaceIndex !== this.#index;
    this.#index = interfaceIndex;
    const before = isNew ? 'unknown' : this.#problem;
    try {
      this.#guarded(interfaceName, before, this.#ports.stopForwarding({ interfaceName, interfaceIndex }));
      this.#problem = undefined;
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      if (before === this.#problem) return;
      const text = `machines of the management network may reach other networks through this pod: ${this.#problem}; trying again every second`;
      this.#ports.logger.error({ interface: interfaceName }, text);
    }
  }

  /** @param before - why it was not guarded before; undefined: it was. */
  #guarded(interfaceName: string, before: string | undefined, corrected: readonly string[]): void {
    const { logger } = this.#ports;
    const facts = { interface: interfaceName };
    if (before !== undefined) logger.info(facts, 'nothing is forwarded from the interface to other networks');
    else if (corrected.length > 0)
      logger.warn({ ...facts, corrected }, 'another program let the interface forward: the agent corrected it');
  }
}
