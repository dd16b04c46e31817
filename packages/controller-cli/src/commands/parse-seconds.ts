import { InvalidArgumentError } from 'commander';

/** Parses the seconds of an option, more than 0 and at most an hour. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 3_600)) throw new InvalidArgumentError('write seconds, more than 0 and up to 3600.');
  return seconds;
}
