/** Management controllers over Redfish, for the agent of bare-metal hosts. */

import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import {
  type AnswerMemory,
  type CallOptions,
  isOutcomeUnknown,
  type RedfishClient,
  RedfishError,
  type RedfishErrorCode,
} from '@vmdhcp/redfish-client';
import type { HostTarget, ManagementControllers, PollReport } from '../agent/ports.js';
import type { OperationOutcome } from '../operation/operation-attempts.js';
import { RedfishClients } from './redfish-clients.js';

export interface RedfishControllersSettings {
  /** The time limit of one poll of a host, in milliseconds. Default: 20,000. */
  readonly pollTimeoutMs?: number;
  /** The time limit of one operation, in milliseconds; less than `OPERATION_TIMES.answerWithinMs`, so that its outcome is recorded. Default: 55,000. */
  readonly operationTimeoutMs?: number;
  /** Called right before a request of an operation is sent; if false, it is not sent. Default: always true. */
  readonly mayAct?: () => boolean;
  /** Awaited before a call; at most four seconds. Default: nothing to wait for. */
  readonly whenReachable?: (signal: AbortSignal) => Promise<void>;
  /** Hosts whose connection is kept between polls. Default: 2,000. */
  readonly mostClients?: number;
  /** For the answers of all hosts. Default: 48 MiB. */
  readonly memory?: AnswerMemory;
}

const POLL_TIMEOUT_MS = 20_000;
const OPERATION_TIMEOUT_MS = 55_000;
const MOST_CLIENTS = 2_000;

/** What a person can do, in terms of the objects. */
const REMEDIES: ReadonlyMap<RedfishErrorCode, string> = new Map([
  ['tls-failed', 'the Secret of the host may have ca.crt, tls-server-name, or insecure-skip-tls-verify'],
  ['unauthorized', 'check username and password in the Secret of the host'],
  ['memory-used-up', 'it is the agent that has none; if this is repeated, divide the hosts between several ClusterAgents'],
]);

const NAME_A_SECRET =
  'name a Secret with username and password: secretName and secretNamespace in spec.endpoint of the ClusterAgent, or in the spec of the HostEndpoint';

/** Implements the port of the agent with Redfish clients, one for each host. Nothing rejects; no message contains credentials. */
export class RedfishControllers implements ManagementControllers {
  readonly #clients: RedfishClients;
  readonly #pollTimeoutMs: number;
  readonly #operationTimeoutMs: number;
  readonly #mayAct: () => boolean;
  readonly #whenReachable: (signal: AbortSignal) => Promise<void>;

  constructor(settings: RedfishControllersSettings = {}) {
    const {
      pollTimeoutMs = POLL_TIMEOUT_MS,
      operationTimeoutMs = OPERATION_TIMEOUT_MS,
      mostClients = MOST_CLIENTS,
      memory,
    } = settings;
    this.#clients = new RedfishClients({ timeoutMs: pollTimeoutMs, most: mostClients, ...(memory && { memory }) });
    this.#pollTimeoutMs = pollTimeoutMs;
    this.#operationTimeoutMs = operationTimeoutMs;
    this.#mayAct = settings.mayAct ?? (() => true);
    this.#whenReachable = settings.whenReachable ?? (async () => undefined);
  }

  readonly read = async (target: HostTarget, signal: AbortSignal): Promise<PollReport> => {
    try {
      await this.#whenReachable(signal);
      const timeoutMs = this.#pollTimeoutMs;
      const { info, log } = await this.#clients.use(target, (client) => client.inspect({ signal, timeoutMs }));
      return { kind: 'healthy', info, log };
    } catch (error) {
      const isOfAgent = error instanceof RedfishError && error.code === 'memory-used-up';
      return { kind: isOfAgent ? 'not-read' : 'unhealthy', message: messageOf(error, target) };
    }
  };

  readonly operate = async (target: HostTarget, action: HostAction, signal: AbortSignal): Promise<OperationOutcome> => {
    const options = { signal, timeoutMs: this.#operationTimeoutMs, mayChange: this.#mayAct };
    const progress = { isOverrideSet: false };
    try {
      await this.#whenReachable(signal);
      const message = await this.#clients.use(target, (client) => carryOut(client, action, { ...options, progress }));
      return { isSuccess: true, message };
    } catch (error) {
      const isUnknown = error instanceof RedfishError && isOutcomeUnknown(error);
      const effects = describeEffects(action, progress, isUnknown);
      return { isSuccess: false, message: [`${action}: ${messageOf(error, target)}`, ...effects].join('. ') };
    }
  };

  /** Ends all calls and the sessions at the management controllers. */
  close(): Promise<void> {
    return this.#clients.close();
  }
}

/** What an operation has achieved so far. */
interface Progress {
  isOverrideSet: boolean;
}

async function carryOut(
  client: RedfishClient,
  action: HostAction,
  { progress, ...options }: CallOptions & { readonly progress: Progress },
): Promise<string> {
  if (action !== 'PxeReboot') {
    await client.reset(action, options);
    return `the management controller accepted ${action}`;
  }
  await client.bootOnceFromNetwork(options);
  progress.isOverrideSet = true;
  await client.reset('ForceRestart', options);
  return 'the management controller accepted one boot from the network and ForceRestart';
}

/** What a failed operation has changed, or may have changed, in sentences without a full stop. */
function describeEffects(action: HostAction, { isOverrideSet }: Progress, isUnknown: boolean): string[] {
  const power = 'It is not known whether the host carried it out: look at its power state';
  if (action === 'PxeReboot' && !isOverrideSet)
    return isUnknown
      ? ['No restart was sent, but the boot override may be set: the next boot of the host may be from the network']
      : [];
  return [
    ...(isOverrideSet ? ['The boot override is set: the next boot of the host is from the network'] : []),
    ...(isUnknown ? [power] : []),
  ];
}

/** Anything but a RedfishError is a bug, whose text may contain anything. */
function messageOf(error: unknown, { secret }: HostTarget): string {
  if (!(error instanceof RedfishError)) return 'the Redfish client failed in an unknown way';
  const isUnnamed = error.code === 'unauthorized' && secret === undefined;
  const remedy = isUnnamed ? NAME_A_SECRET : REMEDIES.get(error.code);
  return remedy === undefined ? error.message : `${error.message}; ${remedy}`;
}
