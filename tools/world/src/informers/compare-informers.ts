/** Compares informers: the same changes, the same faults of watches, and what each of them has reported after recovery. */
import { FakeProcess } from '@vmdhcp/dhcp-agent/testing';
import { randomFrom } from '@vmdhcp/kube-runtime/testing';
import { createFrontProxy, type KubeSimulator, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { type ApiLink, type Loss, Transport } from '../api/transport.js';
import { Scheduler } from '../time/scheduler.js';
import { liveIn } from '../time/virtual-process.js';
import { type InformerSettings, startCache, startClientInformer } from './informers.js';

export interface InformerRow {
  readonly name: string;
  readonly reported: number;
  /** The same version of an object reported twice in a row. */
  readonly repeated: number;
  /** An older version reported after a newer one. */
  readonly backwards: number;
  /** Checks, five minutes after the last fault, in which the copy differed from the server. */
  readonly wrongLooks: number;
  /** The number of wrong objects in these checks. */
  readonly wrongObjects: number;
}

export interface Comparison {
  readonly rows: readonly InformerRow[];
  readonly looks: number;
  readonly changes: number;
}

const NAMESPACE = 'default';
const PATH = { resource: 'configmaps', namespace: NAMESPACE };
const OBJECTS = 30;
const EVENTFUL_MS = 600_000;
const CALM_MS = 300_000;
const TIMEOUT_MS = 30_000;

const INFORMERS: Readonly<Record<string, (settings: InformerSettings) => void>> = {
  'kube-runtime ObjectCache': startCache,
  'client-node informer, started again after errors': (settings) => startClientInformer(settings, true),
  'client-node informer, as it is': (settings) => startClientInformer(settings, false),
};

/** The reports of one informer. */
class Mirror {
  readonly versions = new Map<string, string>();
  reported = 0;
  repeated = 0;
  backwards = 0;

  note(name: string, version: string | undefined): void {
    this.reported++;
    const known = this.versions.get(name);
    if (version === undefined) {
      this.versions.delete(name);
      return;
    }
    if (version === known) this.repeated++;
    else if (known !== undefined && Number(version) < Number(known)) this.backwards++;
    this.versions.set(name, version);
  }
}

/** @param hours - of simulated time. */
export async function compareInformers(seed: number, hours: number): Promise<Comparison> {
  const frontProxy = await createFrontProxy();
  const scheduler = new Scheduler();
  const random = randomFrom(seed);
  liveIn(scheduler, random);
  const starting = startKubeSimulator({ port: 'none', tls: false, adminToken: 'admin', frontProxy });
  await scheduler.pass(1_000);
  const simulator = await starting;
  const link = new FaultyLink(random);
  const mirrors = new Map(Object.keys(INFORMERS).map((name) => [name, new Mirror()]));
  for (const [name, start] of Object.entries(INFORMERS)) {
    const process = new FakeProcess(scheduler);
    const ways = { scheduler, simulator, link, process, token: () => 'admin', userAgent: 'informer', timeoutMs: TIMEOUT_MS };
    const onReported: InformerSettings['onReported'] = (object, version) => mirrors.get(name)?.note(object, version);
    start({ scheduler, random, namespace: NAMESPACE, transport: new Transport(ways), onReported });
  }
  const story = new InformerStory({ scheduler, random, simulator, link });
  const wrong = new Map([...mirrors.keys()].map((name) => [name, { looks: 0, objects: 0 }]));
  let looks = 0;
  while (scheduler.nowMs() < hours * 3_600_000) {
    await story.disturb(EVENTFUL_MS);
    link.heal();
    await scheduler.pass(CALM_MS);
    looks++;
    for (const [name, mirror] of mirrors) {
      const objects = differences(simulator, mirror);
      const counted = wrong.get(name) as { looks: number; objects: number };
      counted.looks += objects > 0 ? 1 : 0;
      counted.objects += objects;
    }
  }
  const rows = [...mirrors].map(([name, { reported, repeated, backwards }]) => {
    const { looks: wrongLooks, objects: wrongObjects } = wrong.get(name) as { looks: number; objects: number };
    return { name, reported, repeated, backwards, wrongLooks, wrongObjects };
  });
  return { rows, looks, changes: story.changes };
}

class FaultyLink implements ApiLink {
  isDown = false;
  mostMs = 5;
  lossPerMille = 0;
  readonly #random;

  constructor(random: (below: number) => number) {
    this.#random = random;
  }

  readonly isCut = () => this.isDown;
  readonly latencyMs = () => 0.5 + (this.#random(1_000) / 1_000) * this.mostMs;
  readonly watchLagMs = () => 0.5 + (this.#random(1_000) / 1_000) * this.mostMs;
  readonly hangs = () => false;
  readonly loss = (): Loss => (this.#random(1_000) < this.lossPerMille ? 'answer' : 'none');

  heal(): void {
    this.isDown = false;
    this.mostMs = 5;
    this.lossPerMille = 0;
  }
}

interface Parts {
  readonly scheduler: Scheduler;
  readonly random: (below: number) => number;
  readonly simulator: KubeSimulator;
  readonly link: FaultyLink;
}

class InformerStory {
  changes = 0;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async disturb(ms: number): Promise<void> {
    const { scheduler, random } = this.#parts;
    const untilMs = scheduler.nowMs() + ms;
    while (scheduler.nowMs() < untilMs) {
      if (random(4) === 0) await this.#fault();
      else await this.#change();
      await scheduler.pass([20, 500, 5_000, 40_000][random(4)] as number);
    }
  }

  async #change(): Promise<void> {
    const { random, simulator, scheduler } = this.#parts;
    const { client } = simulator;
    const name = `object-${random(OBJECTS)}`;
    this.changes++;
    const exists = client.get({ ...PATH, name }) !== undefined;
    const doing = !exists
      ? client.create(PATH, { metadata: { name }, data: { n: String(this.changes) } })
      : random(4) === 0
        ? client.delete({ ...PATH, name })
        : client.patch({ ...PATH, name }, { type: 'merge', body: { data: { n: String(this.changes) } } });
    await Promise.all([doing, scheduler.pass(1)]);
  }

  async #fault(): Promise<void> {
    const { random, simulator, link, scheduler } = this.#parts;
    const faults: readonly (() => unknown)[] = [
      () => simulator.disturbWatches('break'),
      () => simulator.disturbWatches('end'),
      () => simulator.disturbWatches('expire'),
      () => simulator.compact(),
      () => {
        link.isDown = true;
        scheduler.after(random(90_000), () => link.heal());
      },
      () => {
        link.mostMs = random(8_000);
        link.lossPerMille = random(300);
      },
      () => {
        const status = [429, 500, 503][random(3)] as number;
        simulator.faults.inject({ times: 3, requests: { resource: 'configmaps' }, effect: { kind: 'answer', status } });
      },
      () => Promise.all([simulator.restart(), scheduler.pass(1)]),
    ];
    await faults[random(faults.length)]?.();
  }
}

/** Objects whose copy differs from the server. */
function differences({ client }: KubeSimulator, { versions }: Mirror): number {
  const stored = new Map(client.list(PATH).map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion]));
  const names = new Set([...stored.keys(), ...versions.keys()]);
  return [...names].filter((name) => stored.get(name) !== versions.get(name)).length;
}

/** As a table of Markdown. */
export function formatComparison({ rows, looks, changes }: Comparison): string {
  return [
    `${changes} changes; ${looks} looks, each after five minutes without a fault`,
    '',
    '| informer | reports | repeated | older after newer | looks at which its copy was wrong | objects wrong then |',
    '|---|---:|---:|---:|---:|---:|',
    ...rows.map(
      ({ name, reported, repeated, backwards, wrongLooks, wrongObjects }) =>
        `| ${name} | ${reported} | ${repeated} | ${backwards} | ${wrongLooks} of ${looks} | ${wrongObjects} |`,
    ),
  ].join('\n');
}
