import { Command, InvalidArgumentError } from 'commander';
import type { ReadyOptions } from '../actions/ready.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller ready http://127.0.0.1:8080
  vmdhcp-controller ready http://vm-dhcp-controller:8080 http://vm-dhcp-webhook:8080 --timeout 120

Asks /readyz of each status server (--http of the programs) until all are ready. \`helm test\` does the same.

Exit codes: 0 all are ready, 64 wrong usage, 69 one was not ready in time.
`;

/** `vmdhcp-controller ready` */
export function readyCommand(): Command {
  return new Command('ready')
    .description('Wait until status servers report that they are ready.')
    .argument('<url...>', 'addresses of status servers', parseUrl)
    .option('--timeout <seconds>', 'how long to wait', parseSeconds, 60)
    .addHelpText('after', EXAMPLES)
    .action(async (urls: readonly URL[], options: ReadyOptions) => (await import('../actions/ready.js')).ready(urls, options));
}

function parseUrl(text: string, before: readonly URL[] = []): readonly URL[] {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('write a URL, for example http://127.0.0.1:8080.');
  return [...before, url];
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 3_600)) throw new InvalidArgumentError('write seconds, more than 0 and up to 3600.');
  return seconds;
}
