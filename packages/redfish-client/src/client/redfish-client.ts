import type { ResetType } from '../action/reset-type.js';
import { RedfishError } from '../error/redfish-error.js';
import type { AnswerMemory } from '../http/answer-memory.js';
import { type Call, type CallOptions, Calls } from '../http/call.js';
import { Service } from '../http/service.js';
import type { HostReport } from '../report/host-report.js';
import type { RedfishTarget } from '../target/redfish-target.js';
import { describeTarget, targetProblems } from '../target/target-problems.js';
import { bootSystemsFromNetwork, resetSystems } from './actions.js';
import { Inspection } from './inspection.js';
import type { ReadLink } from './members.js';

/** How patiently a client asks, and what it remembers between reports. */
export interface RedfishClientSettings {
  /** Milliseconds for one call with all its requests, 1 or more. */
  readonly timeoutMs: number;
  /** Closes the client without logging out: its calls reject with the code `closed`. */
  readonly signal?: AbortSignal;
  /** Milliseconds between two polls of a task, if the service does not state a delay. Default: 1,000. */
  readonly taskPollMs?: number;
  /** The memory that this client shares with others for answers. Default: 48 MiB for this one. */
  readonly memory?: AnswerMemory;
}

const TASK_POLL_MS = 1_000;
/** For the end of sessions, which no call waits for. */
const LOGOUT_MS = 5_000;

/**
 * A client of one Redfish service. Its calls may run at the same time, and reject only with a RedfishError. Connections are kept between calls, but
 * do not keep the process alive. Neither an error nor a report nor `util.inspect` of a client shows a password or a token.
 */
export class RedfishClient {
  readonly #name: string;
  readonly #service: Service;
  readonly #calls: Calls;
  /** The calls that end sessions. */
  readonly #logouts: Calls;
  readonly #loggingOut = new Set<Promise<void>>();
  readonly #settings: RedfishClientSettings;
  #isClosed = false;

  /** @throws RedfishError `invalid-target` with every problem. */
  constructor(target: RedfishTarget, settings: RedfishClientSettings) {
    const problems = targetProblems(target);
    if (problems.length > 0) throw new RedfishError('invalid-target', `the target cannot be used: ${problems.join('; ')}`);
    this.#name = describeTarget(target);
    this.#service = new Service(target);
    this.#calls = new Calls(settings.timeoutMs, settings.memory);
    this.#logouts = new Calls(Math.min(settings.timeoutMs, LOGOUT_MS), settings.memory);
    this.#settings = settings;
    settings.signal?.addEventListener('abort', this.#end, { once: true });
    if (settings.signal?.aborted === true) this.#end();
  }

  /** Reads the report of the service and its logs; a password or token in it becomes `***`. @throws RedfishError */
  inspect(options?: CallOptions): Promise<HostReport> {
    const read =
      (call: Call): ReadLink =>
      (link, to) =>
        this.#service.readAs(call, link, to);
    return this.#run(options, (call) => new Inspection(read(call), this.#service.redactReport).run());
  }

  /**
   * Switches the power of every computer system, and waits for the tasks. After some failures the service may or may not have carried it out:
   * `isOutcomeUnknown` says so.
   *
   * @throws RedfishError `unsupported` with the types that the service offers; no type replaces another one.
   */
  reset(type: ResetType, options?: CallOptions): Promise<void> {
    return this.#run(options, (call) => resetSystems(this.#actions(call), type));
  }

  /** Sets the next boot of every computer system to the network (PXE), once; switches nothing. @throws RedfishError */
  bootOnceFromNetwork(options?: CallOptions): Promise<void> {
    return this.#run(options, (call) => bootSystemsFromNetwork(this.#actions(call)));
  }

  /** Ends all calls, then the sessions of the service, within five seconds. Never rejects. A second call does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#calls.endAll();
    this.#logout((call) => this.#service.logout(call));
    await Promise.all(this.#loggingOut);
    this.#end();
  }

  #actions(call: Call) {
    return { service: this.#service, call, taskPollMs: this.#settings.taskPollMs ?? TASK_POLL_MS };
  }

  async #run<Result>(options: CallOptions | undefined, work: (call: Call) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new RedfishError('closed', `the client of ${this.#name} was closed`);
    try {
      return await this.#calls.run(work, options);
    } catch (error) {
      throw this.#named(error);
    } finally {
      if (!this.#isClosed && this.#service.hasReplacedSessions) this.#logout((call) => this.#service.endReplaced(call));
    }
  }

  /** Ends sessions after a call, with a time limit of their own: a service that does not answer this must not hold up a power action. */
  #logout(work: (call: Call) => Promise<void>): void {
    // If this fails, the sessions expire by themselves.
    const logout = this.#logouts.run(work).catch(() => {});
    this.#loggingOut.add(logout);
    void logout.finally(() => this.#loggingOut.delete(logout));
  }

  /** Adds the service to the message, and removes credentials: a service may repeat them in any text. */
  #named(error: unknown): unknown {
    if (!(error instanceof RedfishError)) return error;
    const { message, cause } = error;
    const named = this.#service.redact(message.includes(this.#name) ? message : `${this.#name}: ${message}`);
    // A RedfishError as cause would contain the original text.
    return error.with(named, cause instanceof RedfishError ? { cause: undefined } : {});
  }

  readonly #end = (): void => {
    this.#isClosed = true;
    this.#settings.signal?.removeEventListener('abort', this.#end);
    this.#calls.endAll();
    this.#logouts.endAll();
    this.#service.close();
  };
}
