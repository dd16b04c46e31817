import { isBeingDeleted, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { Running } from './controller-fixtures.js';
import { other, type ServingPool, type StoryFault } from './story-fixtures.js';

interface OrphanStory {
  readonly running: Running;
  poolOn(network: string): ServingPool;
}

/** Address to MAC address, and the pool that recorded it. */
interface Kept {
  readonly network: string;
  readonly pool: string | undefined;
  readonly address: string;
  readonly macAddress: string;
}

/** A config whose virtual machine was deleted with `--cascade=orphan`: it stays with its addresses, until a virtual machine of its name comes. */
export class Orphan {
  readonly #story: OrphanStory;
  readonly #name: string;
  readonly #uid: string | undefined;
  #kept: readonly Kept[];
  #isOver = false;

  constructor(story: OrphanStory, { metadata, spec, status }: KubernetesObject) {
    this.#story = story;
    this.#name = metadata.name;
    this.#uid = metadata.uid;
    // A pinned address moves when it can; other addresses of the status are freed.
    const wanted = readList(spec, 'networkConfigs').filter((entry) => readText(entry, 'ipAddress') === undefined);
    const claims = new Set(wanted.map((entry) => `${readText(entry, 'networkName')} ${readText(entry, 'macAddress')}`));
    this.#kept = readList(status, 'networkConfigs').flatMap((entry): Kept[] => {
      const [network = '', macAddress = ''] = [readText(entry, 'networkName'), readText(entry, 'macAddress')];
      const address = readText(entry, 'allocatedIPAddress') ?? '';
      const { uid: pool, record } = story.poolOn(network);
      const isKept = claims.has(`${network} ${macAddress}`) && record[address] === macAddress;
      return isKept ? [{ network, pool, address, macAddress }] : [];
    });
  }

  /** The violations so far. */
  look(): StoryFault[] {
    const { running } = this.#story;
    const poolOn = (network: string) => this.#story.poolOn(network);
    const config = running.networkConfig(this.#name);
    this.#isOver ||=
      running.cluster.virtualMachines.objects.has(`default/${this.#name}`) || readField(config?.spec, 'paused') === true;
    if (this.#isOver) return [];
    if (config === undefined || config.metadata.uid !== this.#uid || isBeingDeleted(config))
      return [other(`${this.#name} was orphaned, and its config is gone`)];
    // A copy has the same MAC address: after a restart the address is that of the machine which exists.
    this.#kept = this.#kept.filter((one) => poolOn(one.network).uid === one.pool && !this.#isShared(one));
    return this.#kept.flatMap(({ network, address, macAddress }) => {
      const now = poolOn(network).record[address];
      return now === macAddress
        ? []
        : [other(`${this.#name} was orphaned, and ${address} of ${macAddress} is recorded for ${now ?? 'no client'}`)];
    });
  }

  #isShared({ network, macAddress }: Kept): boolean {
    const others = [...this.#story.running.cluster.networkConfigs.objects.values()].filter(
      ({ metadata }) => metadata.name !== this.#name,
    );
    return others
      .flatMap(({ spec }) => readList(spec, 'networkConfigs'))
      .some((entry) => readText(entry, 'networkName') === network && readText(entry, 'macAddress') === macAddress);
  }
}
