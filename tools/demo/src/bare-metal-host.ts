/** A machine that no cluster knows: a DHCP client, and a management controller at the address that it gets. */
import {
  type BmcsInMachine,
  type BmcsInMachineSettings,
  isInstalled,
  type Machine,
  type RunningClient,
  releaseLease,
  runAgent,
  startBmcs,
  startClient,
} from '@vmdhcp/lab';
import { certificateIssuer } from '@vmdhcp/service-certificates/node';

export const REDFISH_PORT = 443;
/** In the certificate of every management controller. */
export const CERTIFICATE_NAME = 'bmc.rack.example';
export const CREDENTIALS = { username: 'operator', password: 'demo' };
const DAY_MS = 86_400_000;

/** What management controllers prove who they are with. */
export interface Certificates {
  readonly tls: { readonly key: string; readonly certificate: string };
  /** PEM. */
  readonly authority: string;
}

export async function issueCertificates(): Promise<Certificates> {
  const validity = { notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS };
  const authority = await certificateIssuer.createAuthority('rack', validity);
  return { tls: await certificateIssuer.issue(authority, [CERTIFICATE_NAME], validity), authority: authority.certificate };
}

export class BareMetalHost {
  readonly machine: Machine;
  readonly #tls: BmcsInMachineSettings['tls'];
  #address: string | undefined;
  #client: RunningClient | undefined;
  #bmc: BmcsInMachine | undefined;

  constructor(machine: Machine, { tls }: Certificates) {
    this.machine = machine;
    this.#tls = tls;
  }

  get name(): string {
    return this.machine.name;
  }

  /** Undefined: none, it is off. */
  get address(): string | undefined {
    return this.#address;
  }

  /** What was done to it, in order: `reset ForceRestart`, `boot from Pxe`. */
  get actions(): readonly string[] {
    return (this.#bmc?.process.lines ?? [])
      .filter((line) => line.startsWith('bmc-1 '))
      .map((line) => line.slice('bmc-1 '.length));
  }

  /** It asks for an address; its management controller listens there from then on. @returns the address. @throws Error without one. */
  async switchOn(): Promise<string> {
    this.#address = isInstalled('udhcpc') ? await this.#startClient() : await this.#probe('--request');
    this.#bmc ??= await startBmcs(this.machine, {
      addresses: [this.#address],
      port: REDFISH_PORT,
      ...(this.#tls !== undefined && { tls: this.#tls }),
      credentials: CREDENTIALS,
    });
    return this.#address;
  }

  /** It releases its lease, as a host does that is switched off. @param server - the DHCP server's address. */
  async switchOff(server: string): Promise<void> {
    const address = this.#address ?? '';
    this.#address = undefined;
    if (this.#client !== undefined) {
      this.#client.process.kill('SIGTERM');
      await this.#client.event('deconfig');
      return;
    }
    await releaseLease(this.machine, address, server);
    this.machine.ip('-4', 'address', 'flush', 'dev', 'eth0');
  }

  /** It renews its lease. @returns the address that it has then. */
  async renew(): Promise<string> {
    if (this.#client === undefined) return await this.#probe('--claim', this.#address ?? '');
    this.#client.process.kill('SIGUSR1');
    const { address = '' } = await this.#client.event('renew', 'bound');
    return address;
  }

  async #startClient(): Promise<string> {
    this.#client = startClient('udhcpc', this.machine, { parameters: ['-R'] });
    const { address = '' } = await this.#client.event('bound');
    return address;
  }

  /** The agent's own probe as a client. */
  async #probe(...words: readonly string[]): Promise<string> {
    const { output } = await runAgent(this.machine, 'probe', '--interface', 'eth0', '--json', '--timeout', '2', ...words);
    const { answers } = JSON.parse(output) as { answers: { type: string; address: string }[] };
    const address = answers.findLast(({ type }) => type === 'ack')?.address;
    if (address === undefined) throw new Error(`${this.name} got no address`);
    this.machine.ip('address', 'replace', `${address}/24`, 'dev', 'eth0');
    return address;
  }
}
