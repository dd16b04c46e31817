/**
 * Prevents machines of the management network from using the agent's pod as a router. Only if the pod has its own network: on the
 * network of the node, forwarding belongs to the node.
 */
import type { Logger } from '@vmdhcp/service-process';

export interface ForwardingGuardPorts {
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** 0 if there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Returns what it corrected. @throws Error */
  readonly stopForwarding: (link: { readonly interfaceName: string; readonly interfaceIndex: number }) => readonly string[];
}

export class ForwardingGuard {
  readonly #ports: ForwardingGuardPorts;
  /** The interface that was last guarded, by its index, and why it could not be. */
  #index = 0;
  #problem: string | undefined;

  constructor(ports: ForwardingGuardPorts) {
    this.#ports = ports;
  }

  /**
   * Call it every second; never throws. @param interfaceName - the interface that leads to the management network; undefined if
   * none does.
   */
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

  /** @param before - why it was not guarded before; undefined if it was. */
  #guarded(interfaceName: string, before: string | undefined, corrected: readonly string[]): void {
    const { logger } = this.#ports;
    const facts = { interface: interfaceName };
    if (before !== undefined) logger.info(facts, 'nothing is forwarded from the interface to other networks');
    else if (corrected.length > 0)
      logger.warn({ ...facts, corrected }, 'another program enabled forwarding on the interface: the agent corrected it');
  }
}
