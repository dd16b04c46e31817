/**
 * Connects an agent with its replicas: the election by the group's Lease, the annotations of the Lease, and the server addresses that the leader has.
 */
import {
  AGENT_LOG_ANNOTATION,
  AGENT_REPORT_ANNOTATION,
  type AgentReport,
  describeAgentReport,
  parseAgentLogSettings,
  parseAgentReport,
} from '@vmdhcp/ippool-api/agent';
import { type ElectionTimes, LeaseElector } from '@vmdhcp/kube-runtime';
import { every } from '../every.js';
import {
  hasResigned,
  isLeader,
  type Leadership,
  type LeadershipChange,
  nextLeadership,
  STANDBY,
} from '../leadership/leadership.js';
import { type Annotations, LeaseAnnotations } from '../leadership/lease-annotations.js';
import { ServerAddresses } from '../leadership/server-addresses.js';
import { nextPatience, PATIENT } from '../leadership/step-down-patience.js';
import type { AgentPorts, SeenLease, ServerAddress } from '../ports.js';

const CHECK_INTERVAL_MS = 250;
/** How long this replica lets others go first while something is broken here. */
const HANDICAP_MS = 1_500;
/** The shortest time between reads of the Lease that a standby requests. */
const LEAST_ASK_INTERVAL_MS = 250;
/** How long it lets others go first after it stepped down. */
const RESIGNED_MS = 10_000;

/** How an agent takes part in the election of its group, and which addresses it holds as leader. */
export interface AgentLeadershipSettings extends Pick<AgentPorts, 'clock' | 'random' | 'addresses' | 'lease' | 'observer'> {
  /** Unique to this run of this replica. */
  readonly identity: string;
  readonly times: ElectionTimes;
  /** True if there is no other replica that could do better: then this one never steps down. */
  readonly isAlone: boolean;
  /** The server addresses that the leader needs on this pod. */
  readonly wantedAddresses: () => readonly ServerAddress[];
  /** The current report on the pools. */
  readonly report: () => AgentReport;
  /** Why pools cannot be served from this pod, whichever replica is leader. */
  readonly troubles: () => readonly string[];
  /** Returns true if other replicas should go first. Default: never. */
  readonly goesLast?: () => boolean;
  /** True until all pools have been listed. */
  readonly isSyncing: () => boolean;
  /** Receives another leader's report. @param isOfOther - false if this replica may have written it when it was leader */
  readonly onOthersReport: (report: AgentReport, isOfOther: boolean) => void;
  /** The API server has reported the Lease. */
  readonly onHeard: () => void;
  /** The interface has its server address now. */
  readonly onAddressAdded: (interfaceName: string) => void;
  /** Leadership has begun or ended. Check `isLeader` before each step that only the leader may do. Optional. */
  readonly onChange?: (isLeader: boolean) => void;
  /** Runs before another replica may become leader; the addresses are removed after it. Optional. */
  readonly finish?: () => Promise<void>;
}

export class AgentLeadership {
  readonly #settings: AgentLeadershipSettings;
  readonly #elector: LeaseElector;
  readonly #annotations = new LeaseAnnotations();
  readonly addresses: ServerAddresses;
  #leadership: Leadership = STANDBY;
  #patience = PATIENT;
  /** The troubles for which this replica stepped down, while no other replica has become leader since; undefined if it did not. */
  #gaveUpFor: string | undefined;
  /** The report in the Lease. */
  #published = '';
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** The value in the Lease when it was last seen. */
  #leaseDurationMs = 0;
  /** The holder of the Lease when it was last seen. */
  #holder = '';
  /** When this replica last saw the Lease renewed or released; undefined if never. */
  #lastSign: { readonly version: string; readonly atMs: number } | undefined;
  #stopChecking: () => void = () => undefined;
  #stopWatching: () => void = () => undefined;

  constructor(settings: AgentLeadershipSettings) {
    this.#settings = settings;
    const { clock, addresses, observer, times, wantedAddresses, onAddressAdded } = settings;
    this.addresses = new ServerAddresses({
      clock,
      addresses,
      observer,
      times,
      leadership: () => this.#leadership,
      wanted: wantedAddresses,
      onAdded: onAddressAdded,
      onChange: () => this.publish(),
    });
    this.#elector = this.#createElector();
  }

  start(): void {
    this.#stopWatching = this.#settings.lease.watch((lease) => this.#onLeaseSeen(lease));
    this.#stopChecking = every(this.#settings.clock, CHECK_INTERVAL_MS, () => this.check());
    this.#elector.start();
  }

  /** Answering ends first, then renewing; then the addresses are removed, and only then the Lease is released. */
  async stop(): Promise<void> {
    this.#change({ kind: 'stopped' });
    this.#stopWatching();
    this.#stopChecking();
    await this.#elector.stop(() => this.#finish());
  }

  /** Reads the clock, because a process that was frozen handles queued packets before any of its timers runs. */
  isLeader(): boolean {
    return isLeader(this.#leadership, this.#settings.clock.nowMs());
  }

  /** Pools that must not be served from here now, whichever replica is leader. */
  isSuspended(poolKey: string): boolean {
    return this.#annotations.suspended.has(poolKey);
  }

  /** How long ago, in milliseconds, the API server last reported the Lease. */
  heardAgoMs(): number {
    return this.#settings.clock.nowMs() - this.#heardAtMs;
  }

  /** Reads the Lease, so that a standby without news finds out whether it can reach the API server. Calls `onHeard` if it can. */
  ask(): void {
    const nowMs = this.#settings.clock.nowMs();
    if (nowMs - this.#askedAtMs < LEAST_ASK_INTERVAL_MS) return;
    this.#askedAtMs = nowMs;
    this.#elector.tryNow();
  }

  /** How long it can take until another replica replaces a dead leader, in milliseconds. */
  get leaseDurationMs(): number {
    return Math.max(this.#leaseDurationMs, this.#settings.times.leaseDurationMs);
  }

  /** Adds and removes addresses to match the current pools. */
  check(): void {
    if (this.isLeader()) this.addresses.check();
  }

  /** Renews the Lease now if the report has changed, because a renewal writes it. */
  publish(): void {
    if (this.isLeader() && describeAgentReport(this.#settings.report()) !== this.#published) this.#elector.tryNow();
  }

  /** Steps down if another replica may be able to do what this one cannot. Call it every second. */
  stepDownIfBroken(): void {
    const { clock, isAlone, troubles } = this.#settings;
    const nowMs = clock.nowMs();
    const found = isAlone ? [] : troubles();
    const isLeader = this.isLeader();
    const { patience, stepsDown } = nextPatience(this.#patience, { nowMs, isLeader, hasTroubles: found.length > 0 });
    this.#patience = patience;
    if (patience.wellSinceMs !== undefined && patience.waitMs === PATIENT.waitMs) this.#gaveUpFor = undefined;
    if (!stepsDown) return;
    this.stepDown(found);
  }

  /** Steps down for another replica; an agent that is alone stays leader. */
  stepDown(reasons: readonly string[]): void {
    const { clock, isAlone, observer } = this.#settings;
    if (isAlone || !this.isLeader()) return;
    const gaveUpFor = reasons.join('\n');
    observer.observe({ kind: 'stepping-down', troubles: reasons, ...again(gaveUpFor === this.#gaveUpFor) });
    this.#gaveUpFor = gaveUpFor;
    const untilMs = clock.nowMs() + RESIGNED_MS;
    void this.#elector.resign(async () => {
      this.#change({ kind: 'resigned', untilMs });
      return this.#finish();
    });
  }

  async #finish(): Promise<boolean> {
    await this.#settings.finish?.();
    return this.addresses.removeAll();
  }

  #change(change: LeadershipChange): void {
    this.#leadership = nextLeadership(this.#leadership, change);
  }

  #createElector(): LeaseElector {
    const { identity, lease, clock, random, times, observer } = this.#settings;
    return new LeaseElector({
      ...times,
      renewPeriodMs: () => this.#annotations.renewPeriodMs,
      identity,
      store: lease.store({
        annotations: (isNew) => this.#toAnnotations(isNew),
        onAnnotations: (annotations, version) => this.#onAnnotations(annotations, version),
      }),
      clock,
      random,
      handicapMs: () => this.#handicapMs(),
      onLeading: () => {
        observer.observe({ kind: 'leader', afterMs: this.#sinceLastSignMs(), ...again(this.#gaveUpFor !== undefined) });
        this.#settings.onChange?.(true);
      },
      onRenewed: (untilMs) => this.#onRenewed(untilMs),
      onLost: () => this.#onLost(),
      onError: (error) => observer.observe({ kind: 'lease-unreachable', error }),
    });
  }

  #onRenewed(untilMs: number): void {
    this.#change({ kind: 'renewed', untilMs });
    this.#lastSign = { version: '', atMs: this.#settings.clock.nowMs() };
    if (this.isLeader()) this.addresses.renew();
  }

  #onLost(): void {
    const { kind } = this.#leadership;
    if (kind !== 'stopping') this.#settings.observer.observe({ kind: 'leadership-lost', ...again(kind === 'resigned') });
    this.#change({ kind: 'lost' });
    this.addresses.removeAll();
    this.#settings.onChange?.(false);
  }

  /** Only a leader sees most troubles, so they are not over just because this replica stepped down. */
  #handicapMs(): number {
    const { clock, isAlone, isSyncing, troubles, goesLast = () => false } = this.#settings;
    if (isAlone) return 0;
    const isBroken = hasResigned(this.#leadership, clock.nowMs()) || isSyncing() || troubles().length > 0;
    // The waits add up, so that a replica that has just stepped down comes after others that reach no machine either.
    return (isBroken ? HANDICAP_MS : 0) + (goesLast() ? HANDICAP_MS : 0);
  }

  #toAnnotations(isNew: boolean): Annotations {
    const report = this.#settings.report();
    this.#published = describeAgentReport(report);
    return this.#annotations.write(report, isNew);
  }

  /** Called before the election goes on, so that no leader can miss which pools are suspended. */
  #onAnnotations(annotations: Annotations, version: string): void {
    this.#heardAtMs = this.#settings.clock.nowMs();
    this.#adopt(annotations, version);
    // Apply the suspensions of this Lease before answering anything else.
    this.#settings.onHeard();
  }

  #adopt(annotations: Annotations, version: string): void {
    const { observer, onOthersReport } = this.#settings;
    const outcome = this.#annotations.read(annotations, version);
    if (outcome === 'older') return;
    if (outcome === 'changed') {
      observer.observe({ kind: 'suspended-pools', pools: [...this.#annotations.suspended] });
      this.check();
    }
    this.#noteLogSettings(annotations);
    if (this.isLeader()) return;
    const isOfOther = this.#holder !== '' && this.#holder !== this.#settings.identity;
    onOthersReport(parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]), isOfOther);
  }

  /** Acquires a released Lease at once, and reads a Lease at once if it suspends other pools. */
  #onLeaseSeen(lease: SeenLease | undefined): void {
    if (lease === undefined) {
      // The wait begins when the Lease is found missing.
      this.#elector.tryNow();
      return;
    }
    const { stored, annotations } = lease;
    this.#leaseDurationMs = stored.record.leaseDurationMs;
    this.#noteHolder(stored.record.holder);
    this.#noteSign(stored);
    if (!this.isLeader()) this.#onAnnotations(annotations, stored.version);
    else this.#onSeenByLeader(annotations, stored.version);
    this.#elector.observe(stored);
  }

  /** Suspensions take effect when the leader has read them; log settings do not wait for the next renewal. */
  #onSeenByLeader(annotations: Annotations, version: string): void {
    if (this.#annotations.isNews(annotations, version)) this.#elector.tryNow();
    else if (!this.#annotations.isOld(version)) this.#noteLogSettings(annotations);
  }

  #noteLogSettings(annotations: Annotations): void {
    this.#settings.observer.observe({ kind: 'log-settings', settings: parseAgentLogSettings(annotations[AGENT_LOG_ANNOTATION]) });
  }

  /** The watch also shows this replica's own writes, possibly before their answers: that is not another leader. */
  #noteSign({ record: { holder }, version }: SeenLease['stored']): void {
    if (holder !== this.#settings.identity && version !== this.#lastSign?.version)
      this.#lastSign = { version, atMs: this.#settings.clock.nowMs() };
  }

  #sinceLastSignMs(): number | undefined {
    return this.#lastSign && this.#settings.clock.nowMs() - this.#lastSign.atMs;
  }

  /** Two leaders would be two servers with one address, so even an agent that is configured to be alone waits. */
  #noteHolder(holder: string): void {
    const { isAlone, identity, observer } = this.#settings;
    if (holder === this.#holder) return;
    this.#holder = holder;
    if (holder !== '' && holder !== identity) this.#gaveUpFor = undefined;
    if (isAlone && holder !== '' && holder !== identity) observer.observe({ kind: 'another-holder', holder });
  }
}

function again(isAgain: boolean): { readonly isAgain?: true } {
  return isAgain ? { isAgain } : {};
}
