/** The command to run and its container, or why it cannot run. */
import type { ApiContext } from '../api/api-call.js';
import { collectionOf, fromStored, keyOf } from '../api/api-call.js';
import { ApiError } from '../api-error.js';
import type { Pod } from '../controllers/workload-kinds.js';
import { badRequest, notFound } from '../failures.js';
import { objectsOf, section } from '../json-parts.js';
import type { RequestAttributes } from '../request/request-chain.js';
import type { ExecRequest } from './exec-in-pod.js';
import type { ExecStreams } from './exec-session.js';

export interface ExecTarget {
  readonly request: ExecRequest;
  readonly streams: ExecStreams;
  /** False: the kubelet finds no container to run the command in. */
  readonly isRunning: boolean;
}

/** The container that the query names, or the only one. @throws ApiError 400 or 404, in the words of the real server. */
export function execTarget(
  context: ApiContext,
  { namespace, name }: Pick<RequestAttributes, 'namespace' | 'name'>,
  query: URLSearchParams,
): ExecTarget {
  const pod = podAt(context, namespace, name);
  const container = containerOf(pod, query.get('container') ?? '');
  const command = query.getAll('command');
  if (command.length === 0) throw badRequest('you must specify at least one command for the container');
  const streams = { stdin: isAsked(query, 'stdin'), stdout: isAsked(query, 'stdout'), stderr: isAsked(query, 'stderr') };
  if (!Object.values(streams).includes(true)) throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  if (isAsked(query, 'tty')) throw badRequest('the simulator has no terminals');
  return { request: { pod, container, command }, streams, isRunning: isContainerRunning(pod, container) };
}

/** The answer if a client does not ask for a WebSocket. */
export function upgradeRequired(): ApiError {
  return badRequest('Upgrade request required');
}

/** More concurrent commands than any test needs: a client that forgets to end them is refused. */
export function tooManyCommands(most: number): ApiError {
  return new ApiError({
    code: 429,
    reason: 'TooManyRequests',
    message: `${most} commands run already, please try again later`,
    retryAfterSeconds: 1,
  });
}

function podAt(context: ApiContext, namespace: string, name: string): Pod {
  const type = context.registry.find('', 'v1', 'pods');
  const stored = type === undefined ? undefined : collectionOf(context, type).get(keyOf(type, namespace, name));
  if (type === undefined || stored === undefined) throw notFound({ group: '', plural: 'pods', kind: 'Pod' }, name);
  const pod = fromStored(type, stored) as Pod;
  if (!pod.spec.nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  return pod;
}

function containerOf({ metadata: { name = '' }, spec }: Pod, asked: string): string {
  const names = spec.containers.map((container) => container.name);
  if (asked !== '') {
    if (names.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only = ''] = names;
  if (names.length === 1) return only;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
}

function isContainerRunning(pod: Pod, container: string): boolean {
  const states = objectsOf(section(pod, 'status')['containerStatuses']);
  return states.some(
    ({ name, state }) => name === container && section({ state: state ?? null }, 'state')['running'] !== undefined,
  );
}

function isAsked(query: URLSearchParams, name: string): boolean {
  return ['1', 'true'].includes(query.get(name) ?? '');
}
