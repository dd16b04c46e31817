/** Says why a command could not run in a pod, or why its end is not known, for people. */
import { ExitCode } from '@vmdhcp/service-process';

export type PodExecFailure =
  /** A right is missing. */
  | 'forbidden'
  /** The API server does not recognize the user. */
  | 'unauthorized'
  | 'pod-missing'
  | 'container-not-running'
  /** The API server or the kubelet refused for another reason. */
  | 'refused'
  /** The API server did not respond. */
  | 'unreachable'
  /** The connection ended before the command did. */
  | 'connection-ended'
  | 'deadline'
  | 'aborted';

/** The namespace and the name of a pod. */
export interface PodName {
  readonly namespace: string;
  readonly pod: string;
}

/** Says why a command could not run in a pod, for people. */
export class PodExecError extends Error {
  readonly code = 'ERR_POD_EXEC';
  readonly failure: PodExecFailure;

  constructor(failure: PodExecFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }

  /** The exit code of a command that fails with this error and nothing else. */
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

/**
 * The rule to ask an administrator for. Servers before Kubernetes 1.35 check only `get` for a WebSocket, later ones check both
 * verbs.
 */
export function execRuleFor(namespace: string): string {
  return `ask for a Role in namespace ${namespace} with the rule {apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"]}`;
}

/** The response of a server that did not open the WebSocket. @param text - its body. */
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
      return new PodExecError('pod-missing', `pod ${namespace}/${pod} no longer exists; try again`);
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
