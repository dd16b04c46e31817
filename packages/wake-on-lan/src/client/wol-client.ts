/**
 * The agent's side: reports wake-ups to the manager that is leader, and follows its list of wakeable addresses. The call that
 * follows the list also shows whether a leader is there.
 */

import { type FollowingEvent, followLeader, startFollowing } from '../following/follow-leader.js';
import type { DeliveryOutcome, ManagerClient, ManagerListeners, ManagerState } from '../report/manager-client.js';
import type { WakeReport } from '../report/wake-report.js';
import { type AddressChanges, ReceivedAddresses } from '../wire/address-changes.js';
import { ClientCertificates } from './client-certificates.js';
import { describeUnansweredCall } from './describe-unanswered-call.js';
import { ManagerConnection, type UnansweredCall } from './manager-connection.js';

const CERTIFICATE_CHECK_MS = 5_000;
const FIRST_MESSAGE_MS = 5_000;
const HEALTH_CHECK_MS = 5_000;
/** Longer than the longest call. */
const CLOSE_AFTER_MS = 10_000;
const MOST_TRIES_OF_A_REPORT = 4;

/** Where the manager is, and the certificate with which a node reports to it. */
export interface WolClientSettings extends ManagerListeners {
  /** host:port of the Service of the managers. */
  readonly manager: string;
  readonly nodeName: string;
  /**
   * `SECRET/KEY` of the password that this agent checks: the list has the machines that packets with it may wake; absent if it
   * checks none, or if its packets wake machines that need none.
   */
  readonly passwordSecret?: string | undefined;
  /** The directory with tls.crt, tls.key and ca.crt; undefined for clear text. */
  readonly tlsDirectory: string | undefined;
  /** Milliseconds between two checks of the directory; default: 5,000. */
  readonly certificateCheckMs?: number;
}

/** A client of the managers: `start` connects, `report` reports. */
export class WolClient implements ManagerClient {
  readonly #settings: WolClientSettings;
  readonly #certificates: ClientCertificates | undefined;
  #following;
  /** The last connection over which a leader answered. */
  #leading: ManagerConnection | undefined;
  #connection: ManagerConnection | undefined;
  #state: ManagerState;
  #endCall: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(settings: WolClientSettings) {
    this.#settings = settings;
    this.#following = startFollowing(settings.manager);
    this.#state = { kind: 'disconnected', address: settings.manager, why: 'not tried yet', sinceMs: performance.now() };
    const { tlsDirectory: directory, certificateCheckMs: checkIntervalMs = CERTIFICATE_CHECK_MS, observe } = settings;
    if (directory !== undefined)
      this.#certificates = new ClientCertificates({ directory, checkIntervalMs, observe, onChange: () => this.#reconnect() });
  }

  get state(): ManagerState {
    return this.#state;
  }

  /** Starts to connect; resolves when the certificates were read, not when a manager responds. */
  async start(): Promise<void> {
    if (this.#certificates === undefined) this.#connect();
    else await this.#certificates.start();
    if (this.#certificates?.material === undefined && this.#certificates !== undefined)
      this.#disconnect(this.#certificates.problem ?? 'no certificate');
  }

  stop(): void {
    this.#isStopped = true;
    this.#certificates?.stop();
    clearTimeout(this.#timer);
    this.#endCall();
    this.#connection?.close();
    this.#connection = undefined;
  }

  /** Reports a wake-up to the manager that is leader. Takes at most five seconds for each manager that it tries; never rejects. */
  async report(report: WakeReport): Promise<DeliveryOutcome> {
    for (let tries = 0; tries < MOST_TRIES_OF_A_REPORT; tries++) {
      const connection = this.#connection;
      if (connection === undefined) break;
      const { passwordSecret } = this.#settings;
      const outcome = await connection.report({ ...report, ...(passwordSecret !== undefined && { passwordSecret }) });
      if (outcome.kind === 'answered') return { kind: 'answered', answer: outcome.value };
      if (outcome.kind === 'malformed' || outcome.kind === 'later') return outcome;
      if (outcome.kind === 'not-leading' && connection === this.#connection) this.#leave(outcome);
      // Where the connection is still the one in use, another try would end in the same way.
      if (connection === this.#connection) return { kind: 'unavailable', message: describeUnansweredCall(outcome) };
    }
    return { kind: 'unavailable', message: this.#state.why };
  }

  #connect(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    const { tlsDirectory } = this.#settings;
    const material = this.#certificates?.material;
    // The next check of the directory connects.
    if (tlsDirectory !== undefined && material === undefined) return;
    const connection = new ManagerConnection(this.#following.target, material);
    this.#connection = connection;
    this.#follow(connection);
  }

  #follow(connection: ManagerConnection): void {
    const received = new ReceivedAddresses();
    const late = setTimeout(() => {
      end();
      this.#leave({ kind: 'unavailable', message: `no answer within ${FIRST_MESSAGE_MS / 1000} s` });
    }, FIRST_MESSAGE_MS);
    const { nodeName, passwordSecret = '' } = this.#settings;
    const end = connection.follow(
      { node_name: nodeName, password_secret: passwordSecret },
      (changes) => {
        clearTimeout(late);
        this.#onChanges(connection, received, changes);
      },
      (failure) => {
        clearTimeout(late);
        if (connection !== this.#connection) return;
        if (failure.kind === 'unknown-method') this.#followHealth(connection);
        else this.#leave(failure);
      },
    );
    this.#endCall = () => {
      clearTimeout(late);
      end();
    };
  }

  #onChanges(connection: ManagerConnection, received: ReceivedAddresses, changes: AddressChanges): void {
    if (connection !== this.#connection) return;
    this.#onLeader(connection);
    const taken = received.take(changes);
    if (!taken.ok) this.#leave({ kind: 'unavailable', message: `the manager sent ${taken.problem}` });
    else if (received.addresses !== undefined) this.#settings.onAddresses(received.addresses);
  }

  /** For managers without the list: checks now and then whether they serve. */
  #followHealth(connection: ManagerConnection): void {
    this.#settings.observe({ kind: 'no-list', address: connection.address });
    const check = async (): Promise<void> => {
      const outcome = await connection.checkHealth();
      if (connection !== this.#connection) return;
      if (outcome.kind === 'answered' && outcome.value.status === 'SERVING') {
        this.#onLeader(connection);
        this.#timer = setTimeout(() => void check(), HEALTH_CHECK_MS);
      } else this.#leave(outcome.kind === 'answered' ? { kind: 'unavailable', message: 'the manager does not serve' } : outcome);
    };
    this.#endCall = () => clearTimeout(this.#timer);
    void check();
  }

  #onLeader(connection: ManagerConnection): void {
    this.#step({ kind: 'leads' });
    // Behind the address of a Service each connection may lead to another manager.
    if (this.#state.kind === 'connected' && this.#leading === connection) return;
    this.#leading = connection;
    this.#state = { kind: 'connected', address: connection.address, why: '', sinceMs: performance.now() };
    this.#settings.observe({ kind: 'connected', address: connection.address });
    this.#settings.onReachable();
  }

  /** The connection in use is of no use: another one follows, at once or after a while. */
  #leave(failure: UnansweredCall): void {
    const address = this.#following.target;
    const event: FollowingEvent = failure.kind === 'not-leading' ? failure : { kind: 'unreachable' };
    const retryAfterMs = this.#step(event);
    this.#closeConnection();
    if (retryAfterMs === 0) {
      this.#connect();
      return;
    }
    const why = [describeUnansweredCall(failure), this.#certificates?.problem].filter((part) => part !== undefined).join('; ');
    this.#disconnect(why, address);
    this.#timer = setTimeout(() => this.#connect(), retryAfterMs);
  }

  /** With other certificates. */
  #reconnect(): void {
    this.#closeConnection();
    this.#connect();
  }

  #closeConnection(): void {
    this.#endCall();
    clearTimeout(this.#timer);
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) setTimeout(() => connection.close(), CLOSE_AFTER_MS).unref();
  }

  #disconnect(why: string, address = this.#following.target): void {
    const isNew = this.#state.kind === 'connected' || this.#state.why !== why;
    const sinceMs = this.#state.kind === 'connected' ? performance.now() : this.#state.sinceMs;
    this.#state = { kind: 'disconnected', address, why, sinceMs };
    if (isNew) this.#settings.observe({ kind: 'disconnected', address, why });
  }

  #step(event: FollowingEvent): number {
    const { state, retryAfterMs } = followLeader(
      { state: this.#following, service: this.#settings.manager },
      event,
      Math.random(),
    );
    this.#following = state;
    return retryAfterMs;
  }
}
