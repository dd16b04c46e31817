import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { ObjectIndex } from '@vmdhcp/kube-runtime';
import type { NetworksOfMachine } from '../virtual-machine/machine-interfaces.js';
import type { WantedInterface } from '../virtual-machine/wanted-interfaces.js';

const NOWHERE: NetworksOfMachine = new Map();

/** A virtual machine whose VirtualMachineNetworkConfig does not claim all of its interfaces. */
interface Machine {
  /** The interfaces that its config does not claim. */
  readonly interfaces: readonly WantedInterface[];
  /** Where its guest is, or soon will be; undefined if it does not run, or has a config. */
  readonly guest: NetworksOfMachine | undefined;
}

/**
 * Virtual machines whose config is missing, is being deleted, or does not claim all of their interfaces yet. There are many while thousands are created,
 * and few that run: their guests may still use addresses on networks that they are leaving.
 */
export class MachinesWithoutClaim {
  readonly #onNetwork = new ObjectIndex<Machine>(({ interfaces }) => interfaces.map(({ networkName }) => networkName));
  readonly #running = new ObjectIndex<NetworksOfMachine>((guest) => guest.keys());
  readonly #guests = new Map<string, NetworksOfMachine>();
  /** By key: UID of a config that the controller deletes because its guest uses none of its addresses. */
  readonly #givenUp = new Map<string, string>();

  /** Updates the virtual machine with this key; undefined if its config claims all of its interfaces, or it does not exist. */
  update(key: string, machine: Machine | undefined): void {
    this.#onNetwork.update(key, machine);
    this.#running.update(key, machine?.guest);
    if (machine?.guest === undefined) this.#guests.delete(key);
    else this.#guests.set(key, machine.guest);
  }

  /** The controller deletes this config, so that nothing is kept for the guest until there is another one; undefined if it does not. */
  giveUp(key: string, uid: string | undefined): void {
    if (uid === undefined) this.#givenUp.delete(key);
    else this.#givenUp.set(key, uid);
  }

  /** The virtual machine does not exist any more. */
  forget(key: string): void {
    this.update(key, undefined);
    this.#givenUp.delete(key);
  }

  /** @param config - UID of the existing config; undefined if there is none. */
  isGivenUp(key: string, config: string | undefined): boolean {
    const uid = this.#givenUp.get(key);
    if (uid === undefined || config === undefined || config === uid) return uid !== undefined;
    this.#givenUp.delete(key);
    return false;
  }

  /** Keys of those with an interface on a network. */
  on(network: string): ReadonlySet<string> {
    return this.#onNetwork.keysOf(network);
  }

  /** Keys of those that run, or may run, with a MAC address on other networks only. */
  runningElsewhere(network: string, macAddress: MacAddress): string[] {
    return [...this.#running.keysOf(macAddress)].filter((key) => this.guestOf(key).get(macAddress)?.has(network) === false);
  }

  /** The MAC addresses of all that run, or may run. */
  guests(): Iterable<MacAddress> {
    return this.#running.values();
  }

  /** Where the guest of one is, or soon will be; nowhere if it does not run. */
  guestOf(key: string): NetworksOfMachine {
    return this.#guests.get(key) ?? NOWHERE;
  }
}
