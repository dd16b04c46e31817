import { InvalidArgumentError } from 'commander';

/** The UDP port that an option names. @throws InvalidArgumentError */
export function parseUdpPort(text: string): number {
  const port = Number(text);
  if (!(/^\d+$/.test(text) && port >= 1 && port <= 65535)) throw new InvalidArgumentError('write a UDP port, 1 to 65535.');
  return port;
}
