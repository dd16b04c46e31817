import { connect, type Socket } from 'node:net';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { type ControlRequest, parseControlAnswer } from './control-request.js';

const NEWLINE = 0x0a;
const NEVER = new AbortController().signal;

/**
 * Sends a request to an agent on this host or in this container, and yields the octets of its response as they arrive.
 * @param signal - ends an endless response: the agent is told to stop, and completes its response.
 * @throws CommandError if no agent responds, or it cannot fulfill the request.
 */
export async function* askControl(
  path: string,
  request: ControlRequest,
  signal: AbortSignal = NEVER,
): AsyncGenerator<Uint8Array> {
  const socket = await connected(path);
  const end = () => void socket.end();
  signal.addEventListener('abort', end, { once: true });
  try {
    socket.write(`${JSON.stringify(request)}\n`);
    if (signal.aborted) end();
    let head: Uint8Array | undefined = new Uint8Array(0);
    for await (const part of socket as AsyncIterable<Uint8Array>) {
      if (head === undefined) {
        yield part;
        continue;
      }
      const known: Buffer = Buffer.concat([head, part]);
      const end = known.indexOf(NEWLINE);
      head = end < 0 ? known : undefined;
      if (end < 0) continue;
      checkFirstLine(known.toString('utf8', 0, end), path);
      yield known.subarray(end + 1);
    }
    if (head !== undefined) throw unavailable(path, 'it closed the connection; its log may have the reason');
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}

function checkFirstLine(line: string, path: string): void {
  const answer = parseControlAnswer(line);
  if (answer === undefined) throw unavailable(path, 'the listening process is not an agent of this version');
  if (!answer.ok) throw new CommandError(answer.problem, ExitCode.usage);
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error: NodeJS.ErrnoException) => reject(unavailable(path, whyNot(error))));
  });
}

function whyNot({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EACCES') return 'only the user that the agent runs as may send requests to it; run the command as that user';
  if (code !== 'ENOENT' && code !== 'ECONNREFUSED') return message;
  return 'run the command in the container of the agent, or give the --state directory of an agent on a bare host';
}

function unavailable(path: string, why: string): CommandError {
  return new CommandError(`no agent answers at ${path}: ${why}`, ExitCode.unavailable);
}
