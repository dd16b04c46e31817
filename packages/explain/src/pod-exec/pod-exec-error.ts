/** Why a command could not run in a pod, or its end is not known, in words for people. */
import { ExitCode } from '@vmdhcp/service-process';

export type PodExecFailure =
  /** A right is missing. */
  | 'forbidden'
  /** The API server does not know who asks. */
  | 'unauthorized'
  | 'pod-missing'
  | 'container-not-running'
  /** The API server or the kubelet refused for another reason. */
  | 'refused'
  /** There was no answer of the API server. */
  | 'unreachable'
  /** The connection ended before the command did. */
  | 'connection-ended'
  | 'deadline'
  | 'aborted';

export interface PodName {
  readonly namespace: string;
  readonly pod: string;
}

/** Why a command could not run in a pod, in words for a person. */
export class PodExecError extends Error {
  readonly code = 'ERR_POD_EXEC';
  readonly failure: PodExecFailure;

  constructor(failure: PodExecFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }

  /** Which one a command ends with that needs nothing else. */
  get exitCode(): number {
    return EXIT_CODES[this.failure];
  }
}

const EXIT_CODES: Readonly<Record<PodExecFailure, number>> = {
  forbidden: ExitCode.noPermission,
  unauthorized: ExitCode.noPermission,
  'pod-missing': ExitCode.unavailable,
  'container-not-running': ExitCode.unavailable,
  refused: ExitCode.failed,
  unreachable: ExitCode.unavailable,
  'connection-ended': ExitCode.unavailable,
  deadline: ExitCode.unavailable,
  aborted: ExitCode.failed,
};

/** What to ask an administrator for. Servers before Kubernetes 1.35 check `get` alone for a WebSocket, later ones both verbs. */
export function execRuleFor(namespace: string): string {
  return `ask for a Role in namespace ${namespace} with the rule {apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"]}`;
}

/** The answer of a server that did not open the WebSocket. @param text - its body. */
export function refusalOf(status: number, text: string, { namespace, pod }: PodName): PodExecError {
  const message = messageOfStatus(text) ?? `HTTP ${status}`;
  switch (status) {
    case 401:
      return new PodExecError('unauthorized', `${message}; log in to the cluster again`);
    case 403:
      return new PodExecError(
        'forbidden',
        `cannot execute commands in pods (pods/exec) of namespace ${namespace}: ${execRuleFor(namespace)}`,
      );
    case 404:
      return new PodExecError('pod-missing', `pod ${namespace}/${pod} does not exist any more; try again`);
    default:
      return new PodExecError(
        status >= 500 || status === 429 ? 'unreachable' : 'refused',
        `the API server does not execute a command in pod ${namespace}/${pod}: ${message}`,
      );
  }
}

function messageOfStatus(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
