/** Runs the command that a client executes in a container: whoever starts the simulator decides what runs. */
import type { Readable, Writable } from 'node:stream';
import type { Pod } from '../controllers/workload-kinds.js';

export interface ExecRequest {
  readonly pod: Pod;
  /** A container of the Pod that runs, by its status. */
  readonly container: string;
  /** The program and its arguments; at least one word. */
  readonly command: readonly string[];
}

/** A process beside those of a container. */
export interface ExecProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Fulfilled with the exit code when the process has ended. */
  readonly exited: Promise<number>;
  /** Ends it at once, because the simulator stops. A client that disconnects only closes the streams, as with a container runtime. */
  kill(): void;
}

/** Starts a process. Its errors reach the client as the text of a Status with code 500, as failures of a kubelet do. */
export type ExecInPod = (request: ExecRequest) => ExecProcess | Promise<ExecProcess>;
