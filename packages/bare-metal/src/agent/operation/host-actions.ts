/** Actions that are in progress. */

import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import type { OperationAttempts, OperationOutcome } from '../../operation/operation-attempts.js';
import { OPERATION_TIMES, type OperationStep } from '../../operation/operation-plan.js';
import type { FollowedHost } from '../inventory/host-targets.js';
import { abortWithin } from '../objects/abort-within.js';
import type { HostAgentPorts, HostTarget } from '../ports.js';
import type { HostSecrets } from '../secret/host-secrets.js';

export interface Acting {
  readonly step: Extract<OperationStep, { kind: 'act' }>;
  readonly host: FollowedHost;
}

interface HostActionsSettings {
  readonly ports: HostAgentPorts;
  readonly secrets: HostSecrets;
  readonly attempts: OperationAttempts;
  /** False if this process is no longer leader. */
  readonly mayBegin: () => boolean;
  /** True if the operation still exists and is to be carried out, on the same host. */
  readonly isDue: (acting: Acting) => boolean;
  /** An action has ended, or could not begin. */
  readonly onEnd: () => void;
}

export class HostActions {
  readonly #settings: HostActionsSettings;
  /** By the uid of the operation. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #ended = new AbortController();

  constructor(settings: HostActionsSettings) {
    this.#settings = settings;
  }

  /** Carries out an action whose operation is recorded as pending. Does nothing if it is already in progress. */
  begin(acting: Acting): void {
    const { uid } = acting.step;
    if (this.#running.has(uid) || !this.#settings.mayBegin()) return;
    const running = this.#act(acting)
      .catch((error: unknown) => this.#settings.ports.observer.observe({ kind: 'unexpected-error', error }))
      .then(() => {
        this.#running.delete(uid);
        this.#settings.onEnd();
      });
    this.#running.set(uid, running);
  }

  /** Resolves when no action is in progress. */
  async idle(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Stops waiting for actions in progress. */
  abort(): void {
    this.#ended.abort();
  }

  async #act(acting: Acting): Promise<void> {
    const { step, host } = acting;
    const { ports, secrets, attempts, mayBegin, isDue } = this.#settings;
    const { uid, name, action } = step;
    const secret = await secrets.of(host.connection);
    // While the Secret was read, leadership or the operation may have ended, or another machine may have got the address.
    if (!mayBegin() || attempts.get(uid) !== undefined || !isDue(acting)) return;
    attempts.begin(uid, ports.wallTimeMs());
    const beganAtMs = ports.clock.nowMs();
    ports.observer.observe({ kind: 'operation-began', name, hostStatus: host.name, action });
    const { address, connection } = host;
    const outcome =
      secret.kind === 'problem'
        ? { isSuccess: false, message: `${action}: nothing was done: ${secret.message}` }
        : await this.#operate({ name: host.name, address, connection, secret: secret.data }, action);
    attempts.end(uid, outcome);
    const durationMs = ports.clock.nowMs() - beganAtMs;
    ports.observer.observe({ kind: 'operation-ended', name, hostStatus: host.name, action, ...outcome, durationMs });
  }

  /** Ends at the latest a minute after its beginning, whether the port ends or not. */
  async #operate(target: HostTarget, action: HostAction): Promise<OperationOutcome> {
    const { clock, managementControllers, observer } = this.#settings.ports;
    const { answerWithinMs } = OPERATION_TIMES;
    const { signal, release } = abortWithin(clock, answerWithinMs, this.#ended.signal);
    const missing = Promise.withResolvers<OperationOutcome>();
    const miss = () => missing.resolve(unknown(action, `no answer within ${answerWithinMs / 1_000} seconds`));
    if (signal.aborted) miss();
    signal.addEventListener('abort', miss, { once: true });
    try {
      return await Promise.race([managementControllers.operate(target, action, signal), missing.promise]);
    } catch (error) {
      observer.observe({ kind: 'unexpected-error', error });
      return unknown(action, 'the agent failed');
    } finally {
      release();
    }
  }
}

function unknown(action: HostAction, why: string): OperationOutcome {
  const message = `${action}: ${why}. It is not known whether the host carried it out, and it is not repeated: look at its power state, and create another HostOperation if needed`;
  return { isSuccess: false, message };
}
