import type { Server } from 'node:http';
import { formatListenAddress, type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { listenOnPod } from './listen-on-pod.js';
import { readPodNetwork } from './pod-interface.js';

/** Where the status server of a pod listens, and what its pages show. */
export interface PodStatus {
  readonly http: ListenAddress;
  /** The option that sets the address; default: `--http`. */
  readonly option?: string;
  /** Undefined if it is not known. */
  readonly podAddress: string | undefined;
  readonly sources: Parameters<typeof startStatusServer>[1];
  readonly logger: Logger;
}

/** Starts a status server on the interface of the pod's own address: machines on the served networks cannot connect. */
export async function servePodStatus({ http, option, podAddress, sources, logger }: PodStatus): Promise<Server> {
  const socket = await listenOnPod(http, readPodNetwork(podAddress), option);
  const { interfaceName } = socket;
  logger.info({ interface: interfaceName, address: formatListenAddress(http) }, 'status server listens on this interface only');
  return await startStatusServer(socket, sources);
}
