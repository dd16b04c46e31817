import { parseSecureOnPassword } from '@vmdhcp/wake-on-lan';
import { describe, expect, it } from 'vitest';
import { listenForWakeUps } from '../actions/listen-for-wake-ups.js';
import { wakeCommand } from './wake.js';
import { wolCommand } from './wol.js';

const MAC = '52:54:00:12:34:56';
const parse = (command: ReturnType<typeof wolCommand>, ...args: string[]) =>
  command
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .action(() => {})
    .parse(args, { from: 'user' });

describe('options of wake and wol that do not fit together', () => {
  it.each([
    [['--manager', 'manager:70000'], 'write host:port'],
    [['--exec', ''], 'write a command of the shell'],
    [['--mac', '00:00:00:00:00:00'], 'no machine has this address'],
    [['--password-secret', '00:22:44:66:88:aa'], 'write the name of a Secret and a key'],
  ])('wol %j', (args, message) => expect(() => parse(wolCommand(), ...args)).toThrow(message));

  it.each([
    [['00:00:00:00:00:00'], 'no machine has this address'],
    [[MAC, '--raw', '--to', '192.0.2.11'], 'cannot be used with'],
    [[MAC, '--raw', '--port', '7'], 'cannot be used with'],
  ])('wake %j', (args, message) => expect(() => parse(wakeCommand(), ...args)).toThrow(message));

  it('the name of a password without the password: nothing would be checked', async () => {
    const options = { interface: [], port: [9], frames: false, window: 10, http: 'off', logLevel: 'silent' } as const;
    const listening = listenForWakeUps({ ...options, passwordSecret: 'wake-password/password' });
    await expect(listening).rejects.toThrow('--password-secret names a password');
  });

  it.each([{ passwordSecret: 'wake-password/password' }, { tlsDir: '/tls' }, { clearText: true }])(
    'wol with %j and without --manager: it would have no effect',
    async (given) => {
      const options = { interface: [], port: [9], frames: false, window: 10, http: 'off', logLevel: 'silent' } as const;
      const password = parseSecureOnPassword('00:22:44:66:88:aa');
      if (password === undefined) throw new Error('no password');
      const listening = listenForWakeUps({ ...options, password, ...given });
      await expect(listening).rejects.toThrow('--tls-dir, --clear-text and --password-secret need --manager');
    },
  );
});
