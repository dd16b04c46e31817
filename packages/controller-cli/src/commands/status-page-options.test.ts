import { CommandError } from '@vmdhcp/service-process';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { type StatusPageOptions, statusPageOptions, toStatusPage } from './status-page-options.js';

function read(...words: readonly string[]) {
  const command = new Command('run').exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of statusPageOptions()) command.addOption(option);
  return toStatusPage(command.parse([...words], { from: 'user' }).opts<StatusPageOptions>());
}

describe('options of the page', () => {
  it.each([[[]], [['--ui=false']], [['--ui-listen', '0.0.0.0:80']]])('%j: there is no page', (words) => {
    expect(read(...words)).toBeUndefined();
  });

  it('--ui: a page for this host alone', () => {
    expect(read('--ui')).toEqual({ listen: { host: '127.0.0.1', port: 8068 }, tlsDirectory: undefined, audiences: [] });
  });

  it.each(['127.0.0.1:1', '[::1]:1', 'localhost:1', '127.9.9.9:1'])('%s needs no certificate', (listen) => {
    expect(read('--ui', '--ui-listen', listen)).toBeDefined();
  });

  it.each([':8068', '0.0.0.0:8068', '192.0.2.1:8068', '127.0.0.1.example.com:80', 'example.com:80'])(
    '%s without a certificate is refused: tokens would be sent in clear text',
    (listen) => {
      expect(() => read('--ui', '--ui-listen', listen)).toThrow(CommandError);
      expect(read('--ui', '--ui-listen', listen, '--ui-tls-directory', '/tls')).toMatchObject({ tlsDirectory: '/tls' });
    },
  );

  it('takes several audiences', () => {
    expect(read('--ui', '--ui-audience', 'one', '--ui-audience', 'other')?.audiences).toEqual(['one', 'other']);
  });
});
