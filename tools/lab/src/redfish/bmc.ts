/** One management controller and its host, as a state machine. */

/** How it answers: as it should, or as no management controller should. */
export type BmcBehaviour = 'good' | 'hang' | 'nonsense' | 'refuse-credentials' | 'unavailable' | 'reset-connection';

export interface BmcLogLine {
  readonly time: string;
  readonly severity: 'OK' | 'Warning' | 'Critical';
  readonly message: string;
}

export const RESET_TYPES = ['On', 'ForceOn', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'GracefulRestart'] as const;

type BootSource = 'Hdd' | 'Pxe';

export class Bmc {
  readonly id: string;
  behaviour: BmcBehaviour = 'good';
  powerState: 'On' | 'Off' = 'On';
  override: { enabled: 'Disabled' | 'Once'; target: 'None' | 'Pxe' | 'Hdd' } = { enabled: 'Disabled', target: 'None' };
  /** Reset types in the order in which they were carried out. */
  readonly resets: string[] = [];
  /** What the host booted from, each time. */
  readonly boots: BootSource[] = [];
  readonly log: BmcLogLine[] = [];
  requests = 0;
  readonly tokens = new Set<string>();

  readonly #observe: (text: string) => void;

  /** @param observe - called with `reset ForceOff`, `boot override Once Pxe`, `boot from Pxe`. */
  constructor(id: string, observe: (text: string) => void = () => {}) {
    this.id = id;
    this.#observe = observe;
  }

  get etag(): string {
    return `"${this.powerState}-${this.override.enabled}-${this.override.target}-${this.boots.length}"`;
  }

  /** Undefined: carried out; otherwise why not. */
  reset(type: unknown): string | undefined {
    if (!RESET_TYPES.some((known) => known === type))
      return `The value ${JSON.stringify(type)} is not in the list of acceptable values`;
    const isRestart = type === 'ForceRestart' || type === 'GracefulRestart';
    if (isRestart && this.powerState === 'Off') return 'The host is off and cannot be restarted';
    this.resets.push(String(type));
    this.#observe(`reset ${String(type)}`);
    const isOff = type === 'ForceOff' || type === 'GracefulShutdown';
    if (isRestart || (!isOff && this.powerState === 'Off')) this.#boot();
    this.powerState = isOff ? 'Off' : 'On';
    return undefined;
  }

  /** Undefined: set; otherwise why not. */
  setBoot(enabled: unknown, target: unknown): string | undefined {
    if (enabled !== 'Once' && enabled !== 'Disabled')
      return `BootSourceOverrideEnabled ${JSON.stringify(enabled)} is not supported`;
    if (target !== 'Pxe' && target !== 'Hdd' && target !== 'None')
      return `BootSourceOverrideTarget ${JSON.stringify(target)} is not supported`;
    this.override = { enabled, target };
    this.#observe(`boot override ${enabled} ${target}`);
    return undefined;
  }

  #boot(): void {
    const isPxe = this.override.enabled === 'Once' && this.override.target === 'Pxe';
    const source = isPxe ? 'Pxe' : 'Hdd';
    this.boots.push(source);
    this.#observe(`boot from ${source}`);
    this.override = { enabled: 'Disabled', target: 'None' };
  }
}
