/**
 * An agent among its replicas: the election by the group's Lease, what the Lease contains besides its holder, and the server addresses that go
 * with leadership.
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
/** How long others go first while something is broken here. */
const HANDICAP_MS = 1_500;
/** A standby asks for the Lease so often at most. */
const LEAST_ASK_INTERVAL_MS = 250;
/** For how long after it stepped down. */
const RESIGNED_MS = 10_000;

export interface AgentLeadershipSettings extends Pick<AgentPorts, 'clock' | 'random' | 'addresses' | 'lease' | 'observer'> {
  /** Of this replica, and of no other nor of an earlier run of it. */
  readonly identity: string;
  readonly times: ElectionTimes;
  /** True: there is no other replica that could do better, so this one never steps down. */
  readonly isAlone: boolean;
  /** Server addresses of the pools that are to be served here by a leader. */
  readonly wantedAddresses: () => readonly ServerAddress[];
  /** What this agent reports of its pools now. */
  readonly report: () => AgentReport;
  /** What keeps pools from being served from here, whichever replica is leader. */
  readonly troubles: () => readonly string[];
  /** True: other replicas go first. Default: never. */
  readonly goesLast?: () => boolean;
  /** True until all pools have been listed. */
  readonly isSyncing: () => boolean;
  /** Another leader's report. @param isOfOther - false: it may be the one that this replica wrote when it was leader */
  readonly onOthersReport: (report: AgentReport, isOfOther: boolean) => void;
  /** The API server has reported the Lease. */
  readonly onHeard: () => void;
  /** The interface has its server address now. */
  readonly onAddressAdded: (interfaceName: string) => void;
  /** Leadership begins, or has ended. What is done under it asks `isLeader` before each step. Default: nothing is called. */
  readonly onChange?: (isLeader: boolean) => void;
  /** What has to be over before another replica may be leader; the addresses are removed after it. Default: nothing. */
  readonly finish?: () => Promise<void>;
}

export class AgentLeadership {
  readonly #settings: AgentLeadershipSettings;
  readonly #elector: LeaseElector;
  readonly #annotations = new LeaseAnnotations();
  readonly addresses: ServerAddresses;
  #leadership: Leadership = STANDBY;
  #patience = PATIENT;
  /** The troubles that it stepped down for, while no other replica has become leader since; undefined: it has not. */
  #gaveUpFor: string | undefined;
  /** The report as the Lease has it. */
  #published = '';
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** As the Lease had it when it was seen last. */
  #leaseDurationMs = 0;
  /** The holder of the Lease when it was seen last. */
  #holder = '';
  /** When the Lease was last renewed or released, as this replica saw it; undefined: it has not. */
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

  /** Asks the clock: a process that was frozen reads what has queued up before any of its timers runs. */
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

  /** Reads the Lease: a standby that has heard nothing for long finds out whether the API server can be reached. `onHeard` follows then. */
  ask(): void {
    const nowMs = this.#settings.clock.nowMs();
    if (nowMs - this.#askedAtMs < LEAST_ASK_INTERVAL_MS) return;
    this.#askedAtMs = nowMs;
    this.#elector.tryNow();
  }

  /** How long the leader may be gone before another replica is leader, in milliseconds. */
  get leaseDurationMs(): number {
    return Math.max(this.#leaseDurationMs, this.#settings.times.leaseDurationMs);
  }

  /** Brings addresses in line with the pools as they are now. */
  check(): void {
    if (this.isLeader()) this.addresses.check();
  }

  /** The report is in the Lease: a change of it is written with the next renewal, which is now. */
  publish(): void {
    if (this.isLeader() && describeAgentReport(this.#settings.report()) !== this.#published) this.#elector.tryNow();
  }

  /** Another replica may be able to do what this one cannot. To be called every second. */
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

  /** Another replica may do better. One that is alone stays leader. */
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

  /** What kept it from serving is often only seen by a leader: it is not over because this is none. */
  #handicapMs(): number {
    const { clock, isAlone, isSyncing, troubles, goesLast = () => false } = this.#settings;
    if (isAlone) return 0;
    const isBroken = hasResigned(this.#leadership, clock.nowMs()) || isSyncing() || troubles().length > 0;
    // The waits add up: a replica that has just stepped down goes after others that reach no machine either.
    return (isBroken ? HANDICAP_MS : 0) + (goesLast() ? HANDICAP_MS : 0);
  }

  #toAnnotations(isNew: boolean): Annotations {
    const report = this.#settings.report();
    this.#published = describeAgentReport(report);
    return this.#annotations.write(report, isNew);
  }

  /** Called before the election goes on: a leader that missed which pools are suspended does not exist. */
  #onAnnotations(annotations: Annotations, version: string): void {
    this.#heardAtMs = this.#settings.clock.nowMs();
    this.#adopt(annotations, version);
    // What is answered now must not rest on what this very Lease ends.
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

  /** A Lease that was released is acquired at once; one that suspends other pools is read at once. */
  #onLeaseSeen(lease: SeenLease | undefined): void {
    if (lease === undefined) {
      // How long it has to be missing counts from when it was found missing.
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

  /** What decides about addresses counts only once the leader has read it; what it logs does not wait for the next renewal. */
  #onSeenByLeader(annotations: Annotations, version: string): void {
    if (this.#annotations.isNews(annotations, version)) this.#elector.tryNow();
    else if (!this.#annotations.isOld(version)) this.#noteLogSettings(annotations);
  }

  #noteLogSettings(annotations: Annotations): void {
    this.#settings.observer.observe({ kind: 'log-settings', settings: parseAgentLogSettings(annotations[AGENT_LOG_ANNOTATION]) });
  }

  /** What this replica writes is seen, too, and maybe before its answer: that is no sign of another leader. */
  #noteSign({ record: { holder }, version }: SeenLease['stored']): void {
    if (holder !== this.#settings.identity && version !== this.#lastSign?.version)
      this.#lastSign = { version, atMs: this.#settings.clock.nowMs() };
  }

  #sinceLastSignMs(): number | undefined {
    return this.#lastSign && this.#settings.clock.nowMs() - this.#lastSign.atMs;
  }

  /** Two leaders would be two servers with one address: an agent that is configured to be alone waits all the same. */
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
